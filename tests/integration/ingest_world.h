// Documents that are ingested by the real programs, for tests: what is published of them, and what
// must hold of it whatever happened on the way.
#pragma once

#include "integration/documents_world.h"

#include <string>
#include <vector>

namespace millrace::test {

// Of so many sections, each of a few sentences that no other document has.
inline std::string made_markdown(const std::string& title, int sections) {
  std::string text = "# " + title + "\n\n";
  for (int i = 1; i <= sections; ++i) {
    text += fmt::format(
        "## Section {0}\n\nThe mill of {1} has a wheel with {0} paddles. Its race is {2} metres "
        "long and "
        "falls by {3} metres.\n\nWater enters the race at gate {0}, and leaves it below the wheel "
        "of {1}. The miller "
        "opens the gate in the morning and closes it at night.\n\n",
        i, title, 100 + i, 2 + i % 5);
  }
  return text;
}

class IngestedDocuments : public Documents {
 protected:
  std::string ingest(const std::string& content, const std::string& name = "report.md") {
    return upload(content, name, "ingest");
  }
  std::string upload_job(const std::string& id, const std::string& column) {
    return value(
        "select (to_jsonb(u) ->> $2) from millrace.upload_jobs u where u.document_id = $1::uuid",
        pg::params(id, column));
  }
  std::int64_t count(const std::string& query, pg::Params params = {}) {
    return std::stoll(value(query, std::move(params)));
  }

  // What is searched is the whole text and nothing but the text, in order, each chunk with one
  // vector of one model; and nothing is left in the buffers.
  void expect_published(const std::string& id, const std::string& what = {}) {
    const auto markdown = output(id, "markdown");
    auto sql = api().sql();
    const auto rows =
        must(sql.query("select c.chunk_ord, c.text, c.start_byte, c.end_byte, "
                       "cardinality(c.embedding::real[]) as dimension, "
                       "m.dimension as wanted, length(c.signature) as bits, c.chunk_sha, "
                       "c.embed_model || c.embed_version as model "
                       "from millrace.document_chunks c left join millrace.embedding_model m using "
                       "(embed_model, embed_version) "
                       "where c.document_id = $1::uuid order by c.chunk_ord",
                       pg::params(id)));
    std::string joined;
    std::set<std::string> models;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const auto row = rows[i];
      EXPECT_EQ(row.i64("chunk_ord"), static_cast<std::int64_t>(i)) << what;
      EXPECT_EQ(row.i64("start_byte"), at) << what;
      EXPECT_EQ(row.i64("dimension"), row.i64("wanted")) << what;
      EXPECT_EQ(row.i64("bits"), row.i64("wanted")) << what;
      EXPECT_EQ(std::string(row.text("chunk_sha")), blob::sha256(row.text("text")).hex()) << what;
      at = row.i64("end_byte");
      joined += row.text("text");
      models.insert(std::string(row.text("model")));
    }
    EXPECT_EQ(blob::sha256(joined).hex(), upload_job(id, "parsed_sha256")) << what;
    EXPECT_TRUE(joined == markdown) << what << ": " << joined.size() << " bytes in chunks, "
                                    << markdown.size() << " in the output";
    EXPECT_FALSE(joined.empty()) << what;
    EXPECT_EQ(models.size(), 1U) << what;
    EXPECT_EQ(
        value(
            "select string_agg(state, ' ' order by state) from millrace.generation where file_id = "
            "$1::uuid and state <> 'superseded'",
            pg::params(id)),
        "published")
        << what;
    EXPECT_EQ(
        value("select count(*) from millrace.document_chunk_buffer where document_id = $1::uuid",
              pg::params(id)),
        "0")
        << what;
    EXPECT_EQ(upload_job(id, "status"), "complete") << what;
  }
};

}  // namespace millrace::test
