// Search: what counts as the same word, and as a word of the question at all: spellings, signs
// that join words, phrases, and languages beside each other.
#include "sql/search_world.h"

namespace millrace::test {
namespace {

class SearchWords : public SearchTest {
 protected:
  // Without places and weights: "a b".
  std::string words(std::string_view text, std::string_view config = "english") {
    return sql.value(
        "select array_to_string(tsvector_to_array(to_tsvector($2::text::regconfig, "
        "millrace.spaced_text($1))), ' ')",
        pg::params(text, config));
  }

  // What the first passage marks, as it stands in the text.
  std::string marked(std::string_view query, std::string_view source) {
    ServerSession api{database};
    std::string all;
    for (const auto row :
         api.rows("select (h ->> 0)::bigint, (h ->> 1)::bigint from (select s from "
                  "millrace.search_chunks($1) s limit 1) s, jsonb_array_elements(s #> "
                  "'{passage,highlights}') h",
                  pg::params(query))) {
      const auto from = static_cast<std::size_t>(row.i64(0));
      all += fmt::format("[{}]", source.substr(from, static_cast<std::size_t>(row.i64(1)) - from));
    }
    return all;
  }

  // Of the passage of a document, how much of the question it has; -1: it is not found.
  double share(std::string_view query, std::string_view document) {
    ServerSession api{database};
    return std::stod(
        api.value("select coalesce(max(s #>> '{explain,share}'), '-1') from "
                  "millrace.search_chunks(p_query => $1, p_explain => true, p_limit => 100) s "
                  "where s ->> 'document_name' = "
                  "$2",
                  pg::params(query, document)));
  }

  void publish(std::string_view name, std::int64_t chunks) {
    sql.run(fmt::format(
                "insert into millrace.generation (generation_id, tenant_id, file_id, "
                "parsed_sha256, parse_id, parser_name, parser_version, chunker_name, "
                "chunker_version, params_sha256, embed_model, embed_version, state, chunks_total, "
                "created_at, published_at) select {0}, $1::uuid, {0}, sha256('x'), {0}, 'p', '1', "
                "'m', '1', sha256('x'), 'm', '1', 'published', $2::bigint, millrace.now(), "
                "millrace.now()",
                document_of(name, kAda)),
            pg::params(kTenant, chunks));
  }
};

// --- Spelling ---

TEST_F(SearchWords, ATextHasOneSpelling) {
  const auto plain = [&](std::string_view text) {
    return sql.value("select millrace.plain_text($1)", pg::params(text));
  };
  EXPECT_EQ(plain("cafe\u0301 and a\u0323\u0301"), "caf\u00E9 and \u1EA1\u0301");
  EXPECT_EQ(plain("e\uFB03cient"), "efficient");
  EXPECT_EQ(plain("\uFF26\uFF35\uFF2C\uFF2C"), "FULL");
  EXPECT_EQ(plain("re\u00ADfund re\u200Bfund \uFEFFre\u2060fund"), "refund refund refund");
  EXPECT_EQ(plain("refund\u00B9 refund\u2074 Acme\u2122"), "refund  refund  Acme ");
  EXPECT_EQ(plain("2\u00BD inches"), "2  inches");
  EXPECT_EQ(plain("plain, -_/ \x01"), "plain, -_/ \x01");
}

TEST_F(SearchWords, QuestionsFindWhatIsSpeltInAnotherWay) {
  put({.name = "apart", .text = "The cafe\u0301 is open."});
  put({.name = "one", .text = "The na\u00EFve reader."});
  put({.name = "ligature", .text = "An e\uFB03cient boiler."});
  put({.name = "hyphen", .text = "The war\u00ADran\u00ADty ends."});
  put({.name = "zero", .text = "A zero\u200Bwidth."});
  put({.name = "note", .text = "Paid as a deposit\u00B9 or later."});
  EXPECT_EQ(ask("caf\u00E9"), "apart 0");
  EXPECT_EQ(ask("nai\u0308ve"), "one 0");
  EXPECT_EQ(ask("efficient"), "ligature 0");
  EXPECT_EQ(ask("warranty"), "hyphen 0");
  EXPECT_EQ(ask("zerowidth"), "zero 0");
  EXPECT_EQ(ask("deposit"), "note 0");
  EXPECT_EQ(ask("\"caf\u00E9 is open\""), "apart 0");
  EXPECT_EQ(ask("open -caf\u00E9"), "");
}

// One sign may stand for eighteen letters: what it becomes is bounded as the text itself is.
TEST_F(SearchWords, OfWhatATextBecomesTheFirst128KiBLettersCount) {
  const auto counts_the_word_behind = [&](std::int64_t signs) {
    return sql.yes(
        "select millrace.chunk_words('simple', null, repeat(U&'\\FDFA', $1::int) || ' needle') @@ "
        "'needle'",
        pg::params(signs));
  };
  EXPECT_TRUE(counts_the_word_behind(7000));
  EXPECT_FALSE(counts_the_word_behind(8000));
}

// --- Signs that join words ---

TEST_F(SearchWords, SignsBetweenWordsPartThem) {
  EXPECT_EQ(words("refunds/exchanges"), "exchang refund");
  EXPECT_EQ(words("policy.Employees"), "employe polici");
  EXPECT_EQ(words("name@example.com"), "com exampl name");
  EXPECT_EQ(words("<Customer>"), "custom");
  EXPECT_EQ(words("a \\\\server\\share follow-up snake_case"), "case follow server share snake");
  EXPECT_EQ(words("2.50"), "2.50");
  EXPECT_EQ(words("v1.2.3"), "v1.2.3");
  EXPECT_EQ(words("2024.05.01"), "2024.05.01");
  put({.name = "a", .text = "See refunds/exchanges and policy.Employees, name@example.com."});
  put({.name = "b", .text = "Dear <Customer>, it costs 2.50 since v1.2.3."});
  for (const auto* query : {"exchange", "employees", "example", "name@example.com"}) {
    EXPECT_EQ(ask(query), "a 0") << query;
  }
  for (const auto* query : {"customer", "2.50", "v1.2.3"}) EXPECT_EQ(ask(query), "b 0") << query;
  EXPECT_EQ(ask("50"), "");
}

TEST_F(SearchWords, PartedTextKeepsLettersAndBytesAtTheirPlaces) {
  EXPECT_EQ(sql.value("select millrace.parted_text($1)",
                      pg::params("a-b_c/d\\e<f>g@h+i:j&k.l 1.5 .5 \u00E9-\u00E9.\u00E9 end.")),
            "a b c d e f g h i j k l 1.5  5 \u00E9 \u00E9 \u00E9 end.");
}

// Rows of some of them cost the parser the square of their length: minutes.
TEST_F(SearchWords, ALongRowOfAnySignCostsLittle) {
  sql.run("set statement_timeout = '20s'");
  for (const auto* sign : {"-", "_", "/", "\\", "<", ">", "@", "+", ":", "&", ".", "\"", "'"}) {
    for (const auto* word : {"", "a", "abc", "1"}) {
      EXPECT_GE(sql.number("select length(millrace.chunk_words('english', null, "
                           "repeat($1::text || $2::text, 131072 / length($1::text || $2))))",
                           pg::params(word, sign)),
                0)
          << word << sign;
    }
  }
}

TEST_F(SearchWords, ANumberStandsApartFromItsUnit) {
  put({.name = "joined", .text = "It has 256GB of storage."});
  put({.name = "apart", .text = "It weighs 3.5 kg."});
  EXPECT_EQ(ask("\"256 GB\""), "joined 0");
  EXPECT_EQ(ask("256GB"), "joined 0");
  EXPECT_EQ(ask("\"3.5kg\""), "apart 0");
  EXPECT_EQ(words("H2O 3.5mm"), "3.5 h2o mm");  // A name is not a number with a unit.
}

// --- Phrases ---

TEST_F(SearchWords, InchesAreNoQuotationMarks) {
  const auto demands = [&](std::string_view query) {
    return sql.value("select coalesce(millrace.search_demands('english', $1)::text, 'none')",
                     pg::params(query));
  };
  EXPECT_EQ(demands("a 5\" pipe and a 3\" pipe"), "none");
  EXPECT_EQ(demands("monitor 27\" -curved"), "!'curv'");
  EXPECT_EQ(demands("\"notice period\" for 5\""), "'notic' <-> 'period'");
  EXPECT_EQ(demands("(\"notice period\"), \"valves\"?"), "'notic' <-> 'period' & 'valv'");
  EXPECT_EQ(demands("the \" valve \" and"), "none");
  EXPECT_EQ(demands("rsync--\"delete now\""), "none");  // No minus within a word.
  put({.name = "a", .text = "A pipe of five inches (5\")"});
  EXPECT_EQ(ask("a 5\" pipe or a 3\" pipe"), "a 0");
}

TEST_F(SearchWords, TheFirst32DemandsCount) {
  std::string all;
  for (int i = 0; i < 40; ++i) all += fmt::format("-w{} -w{} ", i, i);
  EXPECT_EQ(sql.number("select (numnode(millrace.search_demands('simple', $1)) + 1) / 3",
                       pg::params(all)),
            32);
  EXPECT_THAT(sql.value("select millrace.search_demands('simple', $1)", pg::params(all)),
              testing::EndsWith("!'w31'"));
}

// --- Highlights ---

TEST_F(SearchWords, HighlightsStandAtTheBytesOfTheTextAsItIs) {
  const std::string text =
      "Gr\u00F6\u00DFe \u2014 the war\u00ADran\u00ADty of the cafe\u0301/bar ends; <Customer> pays "
      "256GB, na\u00EFve e\uFB03cient\u00B9 \u4EAC\u90FD.";
  put({.name = "a", .text = text});
  EXPECT_EQ(marked("warranty", text), "[war\u00ADran\u00ADty]");
  EXPECT_EQ(marked("caf\u00E9 bars", text), "[cafe\u0301][bar]");
  EXPECT_EQ(marked("customers", text), "[Customer]");
  EXPECT_EQ(marked("256 gb", text), "[256GB]");
  EXPECT_EQ(marked("nai\u0308ve", text), "[na\u00EFve]");
  EXPECT_EQ(marked("\u4EAC\u90FD", text), "[\u4EAC][\u90FD]");
  EXPECT_EQ(marked("Gro\u0308\u00DFe", text), "[Gr\u00F6\u00DFe]");
  EXPECT_THAT(marked("efficient", text), testing::StartsWith("[e\uFB03cient"));
}

// --- Languages beside each other ---

TEST_F(SearchWords, TheLanguageOfAQuestionIsThatOfItsSmallWords) {
  const auto language = [&](std::string_view configs, std::string_view query) {
    return sql.value("select coalesce(millrace.question_language($1::text[], $2)::text, 'none')",
                     pg::params(configs, query));
  };
  EXPECT_EQ(language("{english,german}", "How many days may I work from home?"), "english");
  EXPECT_EQ(language("{english,german}", "Wie viele Tage darf ich zu Hause sein?"), "german");
  EXPECT_EQ(language("{french,german}", "How many days may I work from home?"), "english");
  EXPECT_EQ(language("{english,german}", "boiler valve"), "none");
  // All chunks are held against the same words.
  EXPECT_EQ(language("{english}", "How many days?"), "none");
  EXPECT_EQ(language("{german}", "How many days?"), "none");
  // Lists and tables in no language know no small words.
  EXPECT_EQ(language("{simple}", "what is the price"), "english");
  // One small word is a sign of a language that the tenant has documents in, and of English.
  EXPECT_EQ(language("{simple}", "die Anlage"), "none");
  EXPECT_EQ(language("{german,simple}", "die Anlage"), "german");
  EXPECT_EQ(language("{}", ""), "none");
}

TEST_F(SearchWords, SmallWordsOfTheQuestionCountInNoConfiguration) {
  const auto terms = [&](std::string_view config, std::string_view query) {
    return sql.value(
        "select array_to_string(millrace.search_terms($1::text::regconfig, $2, 'english'), ' ')",
        pg::params(config, query));
  };
  EXPECT_EQ(terms("simple", "How is the boiler cleaned?"), "'boiler' 'cleaned'");
  EXPECT_EQ(terms("german", "How is the boiler cleaned?"), "'boil' 'cleaned'");
  put({.name = "list", .text = "how is the", .config = "simple"});
  put({.name = "boiler", .text = "boiler 4711", .config = "simple"});
  EXPECT_EQ(ask("how is the boiler"), "boiler 0");
}

TEST_F(SearchWords, WordsOfEnglishQuestionsSayLittleInEveryConfiguration) {
  const auto weight = [&](std::string_view config, std::string_view word, std::string_view asked) {
    return sql.value(
        "select millrace.term_weight($1::text::regconfig, $2::text::tsquery, "
        "nullif($3::text, '')::regconfig)",
        pg::params(config, word, asked));
  };
  EXPECT_EQ(weight("english", "'happen'", ""), "0.4");
  EXPECT_EQ(weight("simple", "'happen'", "english"), "0.4");
  EXPECT_EQ(weight("simple", "'possible'", "english"), "0.4");
  EXPECT_EQ(weight("german", "'allow'", "english"), "0.4");
  EXPECT_EQ(weight("simple", "'boiler'", "english"), "1");
  EXPECT_EQ(weight("german", "'also'", "german"), "1");
  EXPECT_EQ(weight("simple", "'happen'", ""), "1");
  put({.name = "asks", .text = "possible happens 1", .config = "simple"});
  put({.name = "answers", .text = "overheating 2", .config = "simple"});
  EXPECT_EQ(ask("Is it possible that overheating happens?", "p_limit => 1"), "answers 0");
}

// "Siemens" has another form in each language, and is frequent in one of them only.
TEST_F(SearchWords, SharesOfTwoLanguagesCanBeCompared) {
  for (int i = 0; i < 8; ++i) put({.name = "filler", .text = "The Siemens is new."});
  put({.name = "filler_de", .text = "Der Turbolader ist alt.", .config = "german"});
  put({.name = "en", .text = "Siemens"});
  put({.name = "de", .text = "Siemens", .config = "german"});
  put({.name = "rare", .text = "Turbolader", .config = "german"});
  EXPECT_NE(words("Siemens", "english"), words("Siemens", "german"));
  EXPECT_DOUBLE_EQ(share("Siemens Turbolader", "en"), share("Siemens Turbolader", "de"));
  // As rare as the other among German chunks, and rarer among all.
  EXPECT_GT(share("Siemens Turbolader", "rare"), share("Siemens Turbolader", "de"));
}

TEST_F(SearchWords, AnEnglishQuestionIsAnsweredAmongDocumentsOfTwoLanguages) {
  put({.name = "home", .text = "Staff may work from home up to three days a week."});
  put({.name = "canteen", .text = "The canteen is open from eleven to two."});
  put({.name = "de",
       .text = "Die Kantine ist am Freitag von elf bis zwei offen.",
       .config = "german"});
  put({.name = "miete",
       .text = "Many Home Office AG: Der Vertrag wird in der Form von 2019 verlängert, so far.",
       .config = "german"});
  put({.name = "list", .text = "how many of the from to at 17 18 19", .config = "simple"});
  EXPECT_EQ(ask("How many days a week may I work from home?", "p_limit => 1"), "home 0");
  EXPECT_EQ(ask("When is the canteen open?", "p_limit => 1"), "canteen 0");
  EXPECT_EQ(ask("Wann ist die Kantine am Freitag offen?", "p_limit => 1"), "de 0");
  EXPECT_THAT(ask("When is the canteen open?"), testing::Not(testing::HasSubstr("list")));
  EXPECT_GT(share("How many days a week may I work from home?", "home"),
            2 * share("How many days a week may I work from home?", "miete"));
}

// What is frequent in the tenant may be all that the documents asked of have.
TEST_F(SearchWords, OfAFewDocumentsEveryPassageWithAWordIsFound) {
  put({.name = "few", .text = "boiler"});
  publish("few", 1);
  sql.run(fmt::format(
      "insert into millrace.document_chunks select (jsonb_populate_record(c, jsonb_build_object("
      "'chunk_id', gen_random_uuid(), 'document_id', {0}, 'generation_id', {0}, 'chunk_ord', i, "
      "'words', case when i <= 100 then 'boiler valv' else 'boiler' end))).* from "
      "millrace.document_chunks c, generate_series(1, 3100) i",
      document_of("many", kAda)));
  publish("many", 3100);
  EXPECT_EQ(ask("boiler valve", fmt::format("p_documents => array[{}]", document_of("few", kAda))),
            "few 0");
}

// --- Databases that have chunks ---

// As CHANGELOG.md says it: what was ingested before is found by the new spelling.
TEST_F(SearchWords, WordsOfEarlierChunksAreMadeAnewByTheUpgrade) {
  put({.name = "a", .text = "See refunds/exchanges.", .headings = "{Overview}"});
  const auto stored = [&] { return sql.value("select words::text from millrace.document_chunks"); };
  const auto anew = stored();
  sql.run("update millrace.document_chunks set words = to_tsvector('english', text)");
  EXPECT_EQ(ask("exchanges"), "");
  sql.run(
      "with buffer as (update millrace.document_chunk_buffer set words = "
      "millrace.chunk_words(config::regconfig, array(select jsonb_array_elements_text(meta -> "
      "'headings')), text)) update millrace.document_chunks set words = "
      "millrace.chunk_words(config::regconfig, heading_path, text)");
  EXPECT_EQ(ask("exchanges"), "a 0");
  EXPECT_EQ(stored(), anew);
}

// --- Hostile questions ---

TEST_F(SearchWords, AQuestionOf8KiBOfAnythingIsAnsweredSoon) {
  put({.name = "a", .text = "plain text a w1 5\" pipe", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "b", .text = "ein Text \u4EAC\u90FD", .config = "german"});
  put({.name = "c", .text = "text a 1 \u4EAC", .config = "simple"});
  ServerSession api{database};
  api.run("set statement_timeout = '20s'");
  const auto filled = [](std::string_view with) {
    std::string text;
    while (text.size() + with.size() <= 8192) text += with;
    return text;
  };
  std::string minus;
  for (int i = 0; minus.size() < 8000; ++i) minus += fmt::format("-w{} ", i);
  for (const std::string& query : {filled("\""),
                                   filled("\"a\" "),
                                   filled("\"a "),
                                   filled("-"),
                                   filled("-a "),
                                   minus,
                                   filled("-\"a b\" "),
                                   filled("-\""),
                                   filled("5\" "),
                                   filled("(\""),
                                   filled("\u0301"),
                                   filled("e\u0301\u0323"),
                                   filled("a\u4EACb\u0433c\u044F\uC11C "),
                                   filled("\u200B"),
                                   filled("a\u4EACb\u0433c\u044F\uC11C"),
                                   filled("\uFDFA"),
                                   filled("a\u00AD"),
                                   filled("a b c "),
                                   filled("how is the die der das "),
                                   filled("1a"),
                                   filled("a/"),
                                   filled("a_")}) {
    EXPECT_NO_THROW(ask(api, query)) << query.substr(0, 40);
    EXPECT_NO_THROW(
        ask(api, query, "p_vector => '{1, 0, 0, 0}', p_embed_model => 'm', p_embed_version => '1'"))
        << query.substr(0, 40);
  }
}

}  // namespace
}  // namespace millrace::test
