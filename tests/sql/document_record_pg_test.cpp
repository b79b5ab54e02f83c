// What the manifest of a document rests on: when its stages ran, the same for whoever asks again;
// and pictures of pages, which go with what they show.
#include "sql/document_world.h"

namespace millrace::test {
namespace {

class Record : public DocumentTest {
 protected:
  void wait(std::string_view interval) {
    sql.run("update millrace.test_clock set shift = shift + $1::interval", pg::params(interval));
  }
  void read_page() { expect_settled(settle_page(take(kOcr), "words")); }
  std::string times(const std::string& file, const Delivery& job) {
    return sql.value("select millrace.document_times($1::uuid, $2::uuid)::text",
                     pg::params(file, job.id));
  }
  // A number of the answer, by its path.
  std::int64_t at(const std::string& answer, std::string_view path) {
    return sql.number("select ($1::jsonb #>> $2::text[])::bigint", pg::params(answer, path));
  }
  std::int64_t began(const std::string& file) {
    return sql.number(
        "select floor(extract(epoch from started_at) * 1000)::bigint from millrace.document where "
        "file_id = $1::uuid",
        pg::params(file));
  }
  // "text, image 2"
  std::string outputs(const std::string& file) {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', kind, nullif(page, 0)), ', ' order by kind "
        "desc, "
        "page), '') from millrace.document_output where file_id = $1::uuid",
        pg::params(file));
  }
  void draw(const std::string& file, int page) {
    ServerSession api{database};
    api.run("select millrace.ask_image($1::uuid, $2)", pg::params(file, page));
    const auto drawing = take("document_image");
    expect_settled(settle(
        drawing, "select millrace.settle_image($1::uuid, $2::jsonb)",
        pg::params(
            drawing.id,
            fmt::format(R"({{"kind": "image", "page": {}, "file_name": "p.png", "blob": {}}})",
                        page, stored(sql, fmt::format("pixels of {}", page))))));
  }
  // What a stage for the whole document makes of its pages, as parts of one content.
  std::string mapped(const std::vector<std::string>& texts, std::string_view read = "words") {
    std::string all;
    for (const auto& text : texts) all += text;
    std::string items;
    std::size_t offset = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      items += fmt::format(
          R"({}{{"page": {}, "stage": "map", "reuse_key": "{}", "blob": {},
               "part": {{"offset": {}, "size_bytes": {}, "sha256": "{}"}}}})",
          i == 0 ? "" : ", ", i + 1, hash(read), stored(sql, all), offset, texts[i].size(),
          hash(texts[i]));
      offset += texts[i].size();
    }
    return fmt::format(R"(, "results": [{}], "pages_of": "map")", items);
  }
  // "1 run 1 0+4, 2 run 2 4+6"
  std::string maps(const std::string& file) {
    return sql.value(
        "select string_agg(format('%s run %s %s+%s', page, run, part_offset, size_bytes), ', ' "
        "order by page) from millrace.page_result where file_id = $1::uuid and stage = 'map'",
        pg::params(file));
  }
  void begin_anew(const std::string& file, const std::vector<std::string>& pages) {
    ServerSession api{database};
    api.run("select millrace.retry_document($1::uuid)", pg::params(file));
    scan(file, pages);
  }
};

TEST_F(Record, AStageLastsFromItsFirstJobToItsLastResult) {
  const auto file = scanned({"one", "two"});
  wait("10 s");
  read_page();
  wait("5 s");
  read_page();
  keep(sql);
  const auto job = take(kOutputs);
  const auto told = times(file, job);
  EXPECT_EQ(at(told, "{run}"), 1);
  // It was taken in before anybody had its first job in hand.
  EXPECT_LE(at(told, "{started_ms}"), began(file));
  EXPECT_LE(at(told, "{started_ms}"), at(told, "{stages,fast_queue_security,started_ms}"));
  const auto lasted =
      at(told, "{stages,fast_queue_ocr,ended_ms}") - at(told, "{stages,fast_queue_ocr,started_ms}");
  EXPECT_GE(lasted, 15'000);
  EXPECT_LT(lasted, 25'000);
  EXPECT_GE(at(told, "{stages,fast_queue_ocr,started_ms}"), began(file));
  EXPECT_LE(at(told, "{stages,fast_queue_security,ended_ms}"),
            at(told, "{stages,fast_queue_ocr,started_ms}"));
  EXPECT_GE(at(told, "{ended_ms}"), at(told, "{stages,fast_queue_ocr,ended_ms}"));
  // The delivery that asks after that one has died hears the same.
  wait("10 s");
  EXPECT_EQ(times(file, job), told);
}

TEST_F(Record, AnotherRunIsCountedAndKeepsTheBeginning) {
  const auto file = scanned({"one", "two"});
  read_pages();
  const auto job = take(kOutputs);
  const auto first = times(file, job);
  expect_settled(settle_stage(job, R"({"closes": "fast_queue_ocr"})"));
  wait("2 min");
  begin_anew(file, {"one", "three"});
  read_pages();
  const auto second = times(file, take(kOutputs));
  EXPECT_EQ(at(second, "{run}"), 2);
  EXPECT_EQ(at(second, "{started_ms}"), at(first, "{started_ms}"));
  EXPECT_EQ(at(second, "{stages,fast_queue_ocr,started_ms}"),
            at(first, "{stages,fast_queue_ocr,started_ms}"));
  EXPECT_GE(at(second, "{ended_ms}"), at(first, "{ended_ms}") + 100'000);
}

TEST_F(Record, WhatIsTakenOverHasTheTimeWhenItWas) {
  scanned({"one"});
  read_pages();
  wait("1 min");
  const auto file = scanned({"one"});
  ASSERT_EQ(results(file), "1 fast_queue_ocr reused");
  const auto told = times(file, take(kOutputs));
  EXPECT_EQ(at(told, "{stages,fast_queue_ocr,started_ms}"),
            at(told, "{stages,fast_queue_ocr,ended_ms}"));
  EXPECT_GE(at(told, "{stages,fast_queue_ocr,started_ms}"), began(file));
}

TEST_F(Record, AClockThatWasSetBackEndsNothingBeforeItBegan) {
  const auto file = scanned({"one"});
  wait("-1 h");
  read_page();
  keep(sql);
  const auto told = times(file, take(kOutputs));
  EXPECT_LE(at(told, "{stages,fast_queue_ocr,started_ms}"),
            at(told, "{stages,fast_queue_ocr,ended_ms}"));
  EXPECT_LE(at(told, "{started_ms}"), at(told, "{ended_ms}"));
}

TEST_F(Record, NobodyHearsOfADocumentThatIsGone) {
  EXPECT_EQ(
      sql.refused("select millrace.document_times(millrace.new_id(), millrace.new_id())").sqlstate,
      "MR039");
}

TEST_F(Record, APictureOfAPageThatSaysSomethingElseNowIsGone) {
  const auto file = scanned({"one", "two"});
  read_pages();
  end();
  wait("1 s");
  draw(file, 1);
  draw(file, 2);
  ASSERT_EQ(outputs(file), "image 1, image 2");
  wait("1 s");
  begin_anew(file, {"other", "two"});
  read_pages();
  end();
  EXPECT_EQ(outputs(file), "image 2");
  EXPECT_EQ(
      sql.value("select old_values ->> 'pages' from millrace.audit a join millrace.shell_files "
                "f on f.id = $1::uuid and f.patient_id = a.patient_id where a.action = "
                "'pictures_cleared' and a.category = 'clinical'",
                pg::params(file)),
      "[1]");
  // Whoever asks gets a new one.
  draw(file, 1);
  EXPECT_EQ(outputs(file), "image 1, image 2");
}

// A stage for the whole document writes all its pages in every run.
TEST_F(Record, APageThatIsWrittenAgainAsItWasKeepsItsPictureAndItsTime) {
  const auto file = scanned({"one", "two"});
  read_pages();
  const auto job = take(kOutputs);
  expect_settled(
      settle_stage(job, R"({"closes": "fast_queue_ocr")" + mapped({"left", "right"}) + "}"));
  const auto first = times(file, job);
  wait("1 s");
  draw(file, 1);
  draw(file, 2);
  wait("1 min");
  begin_anew(file, {"one", "two"});
  end(mapped({"left", "right"}));
  EXPECT_EQ(outputs(file), "image 1, image 2");
  EXPECT_EQ(maps(file), "1 run 1 0+4, 2 run 1 4+5");
  EXPECT_EQ(at(times(file, job), "{stages,map,started_ms}"), at(first, "{stages,map,started_ms}"));
  EXPECT_EQ(at(times(file, job), "{stages,map,ended_ms}"), at(first, "{stages,map,ended_ms}"));

  // Where it lies may change; what it says must not.
  wait("1 min");
  begin_anew(file, {"one", "two"});
  end(mapped({"left", "wrong!"}));
  EXPECT_EQ(outputs(file), "image 1");
  EXPECT_EQ(maps(file), "1 run 1 0+4, 2 run 3 4+6");
  EXPECT_EQ(
      sql.value("select count(distinct sha256) from millrace.page_result where stage = 'map'"),
      "1");

  // The same, made of something else.
  wait("1 min");
  begin_anew(file, {"one", "two"});
  end(mapped({"left", "wrong!"}, "other words"));
  EXPECT_EQ(outputs(file), "");
  EXPECT_EQ(maps(file), "1 run 4 0+4, 2 run 4 4+6");
}

TEST_F(Record, PicturesOfWhatStandsAreKept) {
  const auto file = scanned({"one"});
  read_pages();
  end();
  draw(file, 1);
  wait("1 s");
  begin_anew(file, {"one"});
  end();
  EXPECT_EQ(outputs(file), "image 1");
}

}  // namespace
}  // namespace millrace::test
