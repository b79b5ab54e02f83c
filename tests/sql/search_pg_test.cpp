// Search over published chunks: what is found, in which order, and that nobody finds what belongs
// to others (T-02, T-12, I07, B-21).
#include "sql/search_world.h"

namespace millrace::test {
namespace {

using Search = SearchTest;

constexpr const char* kNear =
    "p_vector => '{1, 0.1, 0, 0}', p_embed_model => 'm', p_embed_version => '1'";

TEST_F(Search, FindsWordsWithOtherEndings) {
  put({.name = "a", .text = "Refunds were paid within thirty days."});
  put({.name = "b", .text = "Parking is free in the evening."});
  EXPECT_EQ(ask("refund payment"), "a 0");
  EXPECT_EQ(ask("parked evenings"), "b 0");
}

TEST_F(Search, AQuestionInASentenceFindsPassagesWithSomeOfItsWords) {
  put({.name = "a", .text = "Staff may work from home up to three days a week."});
  put({.name = "b", .text = "The canteen is open from eleven to two."});
  EXPECT_EQ(ask("How many days a week can I work from my own kitchen table at home?"), "a 0");
}

TEST_F(Search, ARareWordCountsMoreThanFrequentOnes) {
  for (int i = 0; i < 20; ++i) {
    put({.name = fmt::format("often{}", i), .text = "the patient takes the tablet every morning"});
  }
  put({.name = "rare", .text = "warfarin is checked weekly"});
  EXPECT_EQ(ask("patient tablet warfarin", "p_limit => 1"), "rare 0");
}

TEST_F(Search, AHeadingCountsMoreThanText) {
  put({.name = "text", .text = "The deposit is mentioned here, among other things."});
  put({.name = "heading",
       .text = "It is paid back after six months.",
       .headings = "{Lease,Deposit}"});
  EXPECT_EQ(ask("deposit"), "heading 0, text 0");
}

TEST_F(Search, WordsThatStandForOthersAreFound) {
  put({.name = "a", .text = "A lost notebook is reported within the hour."});
  put({.name = "b", .text = "The canteen is open from eleven to two."});
  put({.name = "c", .text = "Whoever drove there gets thirty cents a kilometre."});
  EXPECT_EQ(ask("laptop"), "a 0");
  EXPECT_EQ(ask("restaurants"), "b 0");
  EXPECT_EQ(ask("driving"), "c 0");
}

TEST_F(Search, AWordItselfCountsMoreThanOneThatStandsForIt) {
  put({.name = "itself", .text = "The flat is on the third floor."});
  put({.name = "other", .text = "The apartment is on the third floor."});
  put({.name = "neither", .text = "The tram stops on the third bridge."});
  EXPECT_EQ(ask("flat"), "itself 0, other 0");
  EXPECT_EQ(ask("apartments"), "other 0, itself 0");
}

TEST_F(Search, ManyWordsThatStandForOneDoNotOutweighTwo) {
  put({.name = "many", .text = "company firm business enterprise corporation"});
  put({.name = "both", .text = "the employer pays for the helmet"});
  put({.name = "none", .text = "the tram stops at the bridge"});
  EXPECT_EQ(ask("employer helmet"), "both 0, many 0");
}

TEST_F(Search, DemandsAreKeptByTheWordsThemselves) {
  put({.name = "notebook", .text = "a notebook for travelling", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "laptop", .text = "a laptop for travelling", .vector = "{1, 0.2, 0, 0}"});
  EXPECT_EQ(ask("\"laptop\""), "laptop 0");
  EXPECT_EQ(ask("laptop -notebook"), "laptop 0");
  EXPECT_EQ(ask("laptop -notebook", kNear), "laptop 0");
  EXPECT_EQ(ask("travelling -laptop", kNear), "notebook 0");
}

TEST_F(Search, WordsStandForOthersInEnglishOnly) {
  put({.name = "a", .text = "Das Notebook liegt im Haus", .config = "german"});
  put({.name = "b", .text = "Notebook 17", .config = "simple"});
  EXPECT_EQ(ask("laptop"), "");
  EXPECT_THAT(ask("notebook"), testing::AnyOf("a 0, b 0", "b 0, a 0"));
}

TEST_F(Search, WordsThatQuestionsAreMadeOfSayLittle) {
  put({.name = "asks", .text = "It is possible that this happens."});
  put({.name = "answers", .text = "Overheating: switch the boiler off."});
  EXPECT_EQ(ask("Is it possible that overheating happens?", "p_limit => 1"), "answers 0");
}

// Each line has two words at least that are two without their endings, and none that does not
// count.
TEST_F(Search, EveryGroupOfWordsSaysSomething) {
  EXPECT_EQ(
      sql.value(
          R"(select coalesce(string_agg(g.line, ', '), 'none') from string_to_table(millrace.word_groups(), E'\n') g(line)
     where g.line not like '#%' and g.line <> ''
       and (g.line !~ '^[a-z]+( [a-z]+)+$'
            or (select count(distinct (ts_lexize('english_stem', w.word))[1]) < 2 or bool_or(cardinality(ts_lexize('english_stem', w.word)) = 0) from string_to_table(g.line, ' ') w(word))))"),
      "none");
  EXPECT_EQ(sql.value("select millrace.related_words('english', '{''flat'', ''zebra''}')::text"),
            R"({"'apart' | 'home' | 'hous'",NULL})");
}

TEST_F(Search, WordsInQuotationMarksMustStandTogether) {
  put({.name = "together", .text = "the notice period is one month"});
  put({.name = "apart", .text = "the period begins when notice was given, a notice on paper"});
  EXPECT_EQ(ask("notice period"), "apart 0, together 0");  // It has one of them twice.
  EXPECT_EQ(ask("\"notice period\""), "together 0");
  EXPECT_EQ(ask("month \"notice period\""), "together 0");
  EXPECT_EQ(ask("\"notice period\"", kNear), "together 0");
}

TEST_F(Search, AWordWithAMinusMustBeAbsentInEveryMode) {
  put({.name = "cats", .text = "pets are allowed, cats too", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "dogs", .text = "pets are allowed, dogs too", .vector = "{1, 0.2, 0, 0}"});
  EXPECT_EQ(ask("pets -cats"), "dogs 0");
  EXPECT_EQ(ask("pets -cats", kNear), "dogs 0");
  EXPECT_EQ(ask("pets -cats", fmt::format("{}, p_mode => 'vector'", kNear)), "dogs 0");
  EXPECT_EQ(ask("pets -\"cats too\""), "dogs 0");
  // A hyphen within a word is no minus. Both have as much of it: their ids decide.
  EXPECT_THAT(ask("well-allowed"), testing::AnyOf("cats 0, dogs 0", "dogs 0, cats 0"));
}

TEST_F(Search, AMinusBeforeANumberIsTheNumbers) {
  put({.name = "cold", .text = "freezers are kept at -18 degrees", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "warm", .text = "soup is kept at 65 degrees", .vector = "{1, 0.2, 0, 0}"});
  for (const auto* mode : {"text", "vector", "hybrid"}) {
    EXPECT_EQ(ask("kept below -18 degrees", fmt::format("{}, p_mode => '{}'", kNear, mode)),
              "cold 0, warm 0")
        << mode;
  }
  const auto demands = [&](std::string_view query) {
    return sql.value("select coalesce(millrace.search_demands('english', $1)::text, 'none')",
                     pg::params(query));
  };
  EXPECT_EQ(demands("-18"), "none");
  EXPECT_EQ(demands("between -.5 and -,5 or -2nd"), "none");
  EXPECT_EQ(demands("below -18 -cats"), "!'cat'");
  EXPECT_EQ(demands("frost -\"18\""), "!'18'");  // So a number can be kept out.
  EXPECT_EQ(demands("frost -\"cold nights\" \"notice period\""),
            "!( 'cold' <-> 'night' ) & 'notic' <-> 'period'");
}

// What demands that a word be absent does not ask for it as well, and the other way round.
TEST_F(Search, AWordIsAskedForOrKeptOut) {
  put({.name = "a", .text = "copies with rsync delete files"});
  EXPECT_EQ(sql.value("select array_to_string(millrace.search_terms('english', $1), ' ')",
                      pg::params("frost at -18 -cats -\"old dogs\" rsync --delete")),
            "'frost' '18' 'rsync' 'delet'");
  EXPECT_EQ(sql.value("select millrace.search_lexemes('english', $1)",
                      pg::params("frost at -18 -cats -\"old dogs\"")),
            "'18' | 'frost'");
  EXPECT_EQ(ask("rsync --delete"), "a 0");
}

TEST_F(Search, HybridFindsWhatWordsMissAndWhatVectorsMiss) {
  put({.name = "words", .text = "the error code F12 means no flow", .vector = "{0, 0, 1, 0}"});
  put({.name = "meaning", .text = "an injury at the kitchen table", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "neither", .text = "opening hours of the pool", .vector = "{0, 0, 0, 1}"});
  EXPECT_EQ(ask("code F12", "p_mode => 'text'"), "words 0");
  EXPECT_EQ(ask("code F12", fmt::format("{}, p_mode => 'vector', p_limit => 1", kNear)),
            "meaning 0");
  EXPECT_EQ(ask("code F12", fmt::format("{}, p_limit => 2", kNear)), "meaning 0, words 0");
}

TEST_F(Search, InHybridAPassageGainsByTheBestOneOfItsDocument) {
  put({.name = "about", .text = "boiler valve pressure", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "about", .text = "something else", .vector = "{0.5, 0.8, 0, 0}"});
  put({.name = "beside", .text = "another matter", .vector = "{0.52, 0.8, 0, 0}"});
  EXPECT_EQ(ask("boiler valve pressure", kNear), "about 0, about 1, beside 0");
  EXPECT_EQ(ask("boiler valve pressure", fmt::format("{}, p_mode => 'vector'", kNear)),
            "about 0, beside 0, about 1");
}

TEST_F(Search, WithoutAVectorHybridIsText) {
  put({.name = "a", .text = "solar panels", .vector = "{1, 0, 0, 0}"});
  EXPECT_EQ(ask("solar"), "a 0");
  EXPECT_EQ(ask("wind"), "");
}

// B-21: vectors of another model or version are never compared.
TEST_F(Search, b21_compares_vectors_of_the_same_model_and_version_only) {
  put({.name = "same", .text = "one", .vector = "{0.1, 1, 0, 0}"});
  put({.name = "other", .text = "two", .vector = "{1, 0.1, 0, 0}", .version = "2"});
  put({.name = "longer", .text = "three", .vector = "{1, 0.1, 0, 0, 0}"});
  put({.name = "none", .text = "four"});
  EXPECT_EQ(ask("anything", fmt::format("{}, p_mode => 'vector'", kNear)), "same 0");
  EXPECT_EQ(ask("anything",
                "p_vector => '{1, 0, 0, 0}', p_embed_model => 'm', p_embed_version => '3', p_mode "
                "=> 'vector'"),
            "");
}

// T-02: a user finds the own documents; T-12, I07: nobody those of another tenant.
TEST_F(Search, t02_users_find_their_own_documents_and_services_those_of_their_tenant) {
  put({.name = "ada", .text = "the secret recipe", .vector = "{1, 0.1, 0, 0}", .owner = kAda});
  put({.name = "bob", .text = "the secret recipe", .vector = "{1, 0.1, 0, 0}", .owner = kBob});
  put({.name = "far",
       .text = "the secret recipe",
       .vector = "{1, 0.1, 0, 0}",
       .tenant = kOther,
       .owner = kBob});
  User ada{database, kAda};
  User bob{database, kBob};
  User bob_there{database, kBob, kOther};
  ServerSession service{database, kTenant, "service_role"};
  ServerSession elsewhere{database, kOther};
  ServerSession nowhere{database, ""};
  for (const auto* way : {"", kNear, "p_mode => 'text'"}) {
    EXPECT_EQ(ask(ada, "secret recipe", way), "ada 0") << way;
    EXPECT_EQ(ask(bob, "secret recipe", way), "bob 0") << way;
    EXPECT_EQ(ask(bob_there, "secret recipe", way), "far 0") << way;
    EXPECT_EQ(ask(elsewhere, "secret recipe", way), "far 0") << way;
    EXPECT_EQ(ask(nowhere, "secret recipe", way), "") << way;  // The tenant without a name.
    const auto both = ask(service, "secret recipe", way);
    EXPECT_TRUE(both == "ada 0, bob 0" || both == "bob 0, ada 0") << both;
  }
  // Naming the document of another does not help, nor does the word that its index knows it by.
  EXPECT_EQ(
      ask(ada, "secret recipe", fmt::format("p_documents => array[{}]", document_of("bob", kBob))),
      "");
  EXPECT_EQ(ask(ada, fmt::format("secret \x01o{}", kBob)), "ada 0");
  EXPECT_EQ(ask(elsewhere, fmt::format("\"\x01t{}\" secret", kTenant)), "");
  // Claims without a user find nothing.
  Session lost{database, "authenticated"};
  EXPECT_EQ(ask(lost, "secret recipe"), "");
}

TEST_F(Search, t12_how_rare_a_word_is_elsewhere_changes_no_score) {
  put({.name = "a", .text = "alpha beta"});
  put({.name = "b", .text = "alpha gamma"});
  const auto scores = [&] {
    User ada{database, kAda};
    return ada.value(
        "select string_agg(s ->> 'score', ' ') from millrace.search_chunks('alpha beta') s");
  };
  const auto before = scores();
  for (int i = 0; i < 30; ++i) {
    put({.name = fmt::format("x{}", i),
         .text = "beta beta delta",
         .tenant = kOther,
         .owner = kBob});
    put({.name = fmt::format("y{}", i), .text = "beta beta delta", .owner = kBob});
  }
  EXPECT_EQ(scores(), before);
}

TEST_F(Search, ClientsDoNotReadTheTableItself) {
  put({.name = "a", .text = "secret"});
  User ada{database, kAda};
  EXPECT_EQ(ada.refused("select text from millrace.document_chunks").sqlstate, "42501");
  EXPECT_EQ(ada.refused("select millrace.rank_words($1::uuid, null, 'english', 'secret', null, 5)",
                        pg::params(kTenant))
                .sqlstate,
            "42501");
  Session anon{database, "anon"};
  EXPECT_EQ(anon.refused("select millrace.search_chunks('secret')").sqlstate, "42501");
  ServerSession reader{database, kOther, "millrace_reader"};
  EXPECT_EQ(reader.number("select count(*) from millrace.document_chunks"), 0);
}

TEST_F(Search, DocumentsNarrowTheSearch) {
  put({.name = "a", .text = "winter tyres", .vector = "{1, 0.1, 0, 0}"});
  put({.name = "b", .text = "winter tyres", .vector = "{1, 0.1, 0, 0}"});
  const auto only_b = fmt::format("p_documents => array[{}]", document_of("b", kAda));
  EXPECT_EQ(ask("winter", only_b), "b 0");
  EXPECT_EQ(ask("winter", fmt::format("{}, {}", only_b, kNear)), "b 0");
  EXPECT_EQ(ask("winter", "p_documents => '{}'"), "");
}

TEST_F(Search, WordsAreCountedInTheLanguageOfTheDocument) {
  put({.name = "de", .text = "Die Häuser wurden verkauft.", .config = "german"});
  put({.name = "fr", .text = "Les chevaux étaient fatigués.", .config = "french"});
  put({.name = "any", .text = "Die Häuser xyzzy", .config = "simple"});
  EXPECT_EQ(ask("Haus verkaufen"), "de 0");
  EXPECT_EQ(ask("cheval fatigué"), "fr 0");
  EXPECT_EQ(ask("XYZZY"), "any 0");
  // Words that mean nothing in one language do not make a document of another the best.
  EXPECT_EQ(ask("die Häuser verkauft", "p_limit => 1"), "de 0");
}

TEST_F(Search, ScriptsWithoutSpacesAreSearchedByTheirLetters) {
  put({.name = "zh", .text = "今天天气很好，我们去公园散步。", .config = "simple"});
  put({.name = "zh2", .text = "公司的年度报告已经发布。", .config = "simple"});
  put({.name = "ja", .text = "東京タワーは港区にあります。", .config = "simple"});
  put({.name = "ko", .text = "서울에서 회의가 열립니다.", .config = "simple"});
  put({.name = "th", .text = "กรุงเทพมหานครเป็นเมืองหลวง", .config = "simple"});
  EXPECT_EQ(ask("公园"), "zh 0");
  EXPECT_EQ(ask("\"年度报告\""), "zh2 0");
  EXPECT_EQ(ask("東京タワー", "p_limit => 1"), "ja 0");
  EXPECT_EQ(ask("서울"), "ko 0");
  EXPECT_EQ(ask("เมืองหลวง", "p_limit => 1"), "th 0");
}

TEST_F(Search, TheLanguageOfATextIsToldByItsSmallWords) {
  const auto language = [&](std::string_view text) {
    return sql.value("select coalesce(millrace.text_language($1), '-')", pg::params(text));
  };
  EXPECT_EQ(language("The pump is not for blood, and it must be cleaned with a damp cloth."), "en");
  EXPECT_EQ(language("Die Nachtruhe ist von allen zu beachten, und das Grillen ist nicht erlaubt."),
            "de");
  EXPECT_EQ(
      language("La piscine est ouverte et les enfants sont admis avec un adulte dans le bassin."),
      "fr");
  EXPECT_EQ(
      language(
          "El contrato se firma por las partes y los pagos se hacen en el banco con una tarjeta."),
      "es");
  EXPECT_EQ(language("Договор не может быть изменён, и это не зависит от сторон."), "ru");
  EXPECT_EQ(language("4711 0815 Miller Smith Jones"), "-");
  EXPECT_EQ(language(""), "-");
  const auto config = [&](std::string_view said, std::string_view text) {
    return sql.value("select millrace.text_config(nullif($1, ''), $2)", pg::params(said, text));
  };
  EXPECT_EQ(config("de-AT", ""), "german");
  EXPECT_EQ(config("pt_BR", ""), "portuguese");
  EXPECT_EQ(config("eng", ""), "english");
  EXPECT_EQ(config("zz", "the of and to in is"), "simple");
  EXPECT_EQ(config("", "The pump is not for blood, and it must be cleaned with a damp cloth."),
            "english");
}

TEST_F(Search, HostileQuestionsAreAnsweredOrRefusedByTheirRule) {
  put({.name = "a", .text = "plain text about select and drop", .vector = "{1, 0.1, 0, 0}"});
  ServerSession api{database};
  const std::string words(8191, 'x');
  std::string many;
  while (many.size() < 8180) many += fmt::format("w{} ", many.size());
  for (const std::string& query : {std::string("the of and"),
                                   std::string("?"),
                                   std::string("-"),
                                   std::string("\""),
                                   std::string("\"\""),
                                   std::string("-\"\""),
                                   std::string("\"unbalanced"),
                                   std::string("'; drop table millrace.document_chunks; --"),
                                   std::string("a & b | !c <-> (d:*AB)"),
                                   std::string("\\\\ \\' \\"),
                                   std::string("\xF0\x9F\x98\x80 \xF0\x9F\x91\xA9"),
                                   std::string("\x01 \x02 \x7f"),
                                   std::string("' OR 1=1"),
                                   std::string("%_*?"),
                                   std::string("$1 $$ $x$"),
                                   std::string("http://a.b/c?d=e#f <tag attr=\"x\">"),
                                   std::string("-a -b -c"),
                                   std::string("--- -- -"),
                                   std::string("OR OR AND NOT"),
                                   std::string("\"the\" -\"of\""),
                                   words,
                                   many,
                                   std::string(4096, '"'),
                                   std::string(8192, '-'),
                                   std::string(2730, '\'') + "a"}) {
    EXPECT_NO_THROW(ask(api, query)) << query.substr(0, 40);
    EXPECT_NO_THROW(ask(api, query, kNear)) << query.substr(0, 40);
  }
  const auto refused = [&](std::string_view query, std::string_view more = "") {
    const auto error = api.refused(
        fmt::format("select millrace.search_chunks($1{}{})", more.empty() ? "" : ", ", more),
        pg::params(query));
    return error.sqlstate + " " + error.message;
  };
  EXPECT_THAT(refused(""), ::testing::HasSubstr("MR024 query must not be empty"));
  EXPECT_THAT(refused(" \t\n "), ::testing::HasSubstr("MR024 query must not be empty"));
  EXPECT_THAT(refused(std::string(1024 * 1024, 'a')),
              ::testing::HasSubstr("MR024 query has 1048576 bytes; at most 8192"));
  EXPECT_THAT(refused("a", "p_limit => 0"), ::testing::HasSubstr("MR024 limit"));
  EXPECT_THAT(refused("a", "p_limit => 101"), ::testing::HasSubstr("MR024 limit"));
  EXPECT_THAT(refused("a", "p_mode => 'best'"), ::testing::HasSubstr("MR024 mode"));
  EXPECT_THAT(refused("a", "p_mode => 'vector'"), ::testing::HasSubstr("MR024 mode vector"));
  EXPECT_THAT(refused("a", "p_vector => '{1}'"), ::testing::HasSubstr("MR024 a vector"));
  EXPECT_THAT(refused("a", "p_vector => '{NaN}', p_embed_model => 'm', p_embed_version => '1'"),
              ::testing::HasSubstr("MR024 a vector"));
  EXPECT_THAT(refused("a", "p_vector => '{1,null}', p_embed_model => 'm', p_embed_version => '1'"),
              ::testing::HasSubstr("MR024 a vector"));
  EXPECT_THAT(refused("a", "p_text_weight => 0, p_vector_weight => 0"),
              ::testing::HasSubstr("MR024 weights"));
  EXPECT_THAT(refused("a", "p_text_weight => 'NaN'"), ::testing::HasSubstr("MR024 weights"));
  EXPECT_EQ(ask("the of and"), "");
}

// Words that cost the parser the square of their length, and more than a tsvector has room for.
TEST_F(Search, NoTextFailsToBeCountedInWords) {
  EXPECT_GT(sql.number(
                "select length(millrace.chunk_words('english', null, (select "
                "string_agg(substr(md5(i::text), 1, 3), '-') from generate_series(1, 200000) i)))"),
            1000);
  EXPECT_GT(sql.number(
                "select length(millrace.chunk_words('english', null, (select "
                "string_agg(substr(md5(i::text), 1, 3), '_') from generate_series(1, 200000) i)))"),
            1000);
  EXPECT_GT(sql.number("select length(millrace.chunk_words('english', null, (select "
                       "string_agg(md5(i::text), ' ') from generate_series(1, 200000) i)))"),
            1000);
  EXPECT_GT(
      sql.number("select length(millrace.chunk_words('simple', null, (select string_agg(chr(19968 "
                 "+ i % 20000), '') from generate_series(1, 200000) i)))"),
      1000);
  EXPECT_EQ(sql.number("select length(millrace.chunk_words('simple', '{}', ''))"), 0);
}

TEST_F(Search, ASignatureIsTheSignsOfAVector) {
  EXPECT_EQ(sql.value("select millrace.vector_signature('{1, -1, 0, NaN, Infinity, 0.5}')"),
            "100001");
  EXPECT_EQ(sql.value("select millrace.vector_signature(null) is null"), "t");
  EXPECT_EQ(sql.value("select round(millrace.vector_cosine('{3, 4}', '{4, 3}', 5)::numeric, 2)"),
            "0.96");
  EXPECT_EQ(sql.value("select millrace.vector_cosine('{0, 0}', '{4, 3}', 5)"), "0");
}

// Every offset is one of the parsed text, in bytes: what it cuts out is what it is said to be.
TEST_F(Search, OffsetsReproduceTheText) {
  const std::string before = "Größe: 5 µm. 😀\n\n";
  const std::string text =
      "# Überschrift\n\nDie Pumpe läuft — 东京 😀 well-known snake_case "
      "http://example.com/a-b?c=d, e.g. 12,5 mg. <b>The pump</b> runs; the PUMP's valve.\n";
  put({.name = "a",
       .text = text,
       .config = "english",
       .start_byte = static_cast<std::int64_t>(before.size())});
  const auto source = before + text;
  ServerSession api{database};
  for (const auto* query : {"pump valve", "known case", "example.com", "东京", "12,5 mg",
                            "Überschrift läuft", "nothing \"PUMP's valve\""}) {
    for (const auto row :
         api.rows("select s -> 'passage' ->> 'text', (s -> 'passage' ->> 'start_byte')::bigint, (s "
                  "-> 'passage' ->> 'end_byte')::bigint, s ->> 'text', "
                  "(s ->> 'start_byte')::bigint, (s ->> 'end_byte')::bigint, s -> 'passage' ->> "
                  "'highlights' from millrace.search_chunks($1) s",
                  pg::params(query))) {
      const auto slice = [&](std::int64_t from, std::int64_t to) {
        return source.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
      };
      EXPECT_EQ(slice(row.i64(1), row.i64(2)), row.text(0)) << query;
      EXPECT_EQ(slice(row.i64(4), row.i64(5)), row.text(3)) << query;
      for (const auto mark : api.rows(
               "select (h ->> 0)::bigint, (h ->> 1)::bigint from jsonb_array_elements($1::jsonb) h",
               pg::params(row.text(6)))) {
        const auto word = slice(mark.i64(0), mark.i64(1));
        EXPECT_TRUE(
            sql.yes("select to_tsvector('english', millrace.spaced_text($1)) @@ "
                    "millrace.search_lexemes('english', $2)",
                    pg::params(word, query)))
            << query << " marks " << word;
      }
    }
  }
  EXPECT_EQ(api.value("select jsonb_array_length(s #> '{passage,highlights}') from "
                      "millrace.search_chunks('pump valve') s"),
            "4");
}

TEST_F(Search, TheParserGivesBackEveryByteOfAnyText) {
  EXPECT_EQ(sql.value(R"(
    select coalesce(string_agg(t.text, ' / '), 'none') from (
      select string_agg((array['a', 'Zürich', ' ', '-', '_', '.', '/', '@', ':', '<', '>', '&amp;', '1', '2.5', '京', '😀', E'\n', '"', '+', 'http://', '?', '=', '''', '~', '%', '#'])
                        [1 + (hashint4(n * 1000 + i) & 2147483647) % 26], '' order by i) as text
        from generate_series(1, 1000) n, generate_series(1, 40) i group by n) t
     where (select sum(octet_length(p.token)) from ts_parse('default', millrace.parted_text(t.text)) p where p.tokid not in (5, 15, 16, 17)) is distinct from octet_length(t.text))"),
            "none");
}

TEST_F(Search, APassageIsShortAndShowsWhereTheWordsStand) {
  std::string text = "Opening words of the chapter. ";
  for (int i = 0; i < 200; ++i) text += fmt::format("Sentence number {} says nothing much. ", i);
  text += "Here the valve of the boiler is explained. ";
  for (int i = 0; i < 200; ++i) text += fmt::format("Sentence number {} says nothing more. ", i);
  put({.name = "a", .text = text});
  ServerSession api{database};
  const auto passage =
      api.value("select s #>> '{passage,text}' from millrace.search_chunks('boiler valve') s");
  EXPECT_LE(passage.size(), 320U);
  EXPECT_TRUE(passage.starts_with("Here the valve of the boiler")) << passage;
  // Found by its vector alone, it is shown from its beginning.
  put({.name = "b", .text = text, .vector = "{1, 0.1, 0, 0}"});
  EXPECT_TRUE(
      api
          .value(fmt::format(
              "select s #>> '{{passage,text}}' from millrace.search_chunks('zebra', {}) s", kNear))
          .starts_with("Opening words"));
  // Found by what stands for its words, it shows that.
  EXPECT_TRUE(
      api.value("select s #>> '{passage,text}' from millrace.search_chunks('radiator') s limit 1")
          .starts_with("Here the valve of the boiler"));
  EXPECT_EQ(
      api.value(
          "select octet_length(s ->> 'text') from millrace.search_chunks('boiler') s limit 1"),
      std::to_string(text.size()));
}

TEST_F(Search, EqualPassagesHaveAFixedOrder) {
  for (int i = 0; i < 12; ++i)
    put({.name = fmt::format("d{}", i), .text = "same words", .vector = "{1, 0.1, 0, 0}"});
  const auto first = ask("same words", kNear);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask("same words", kNear), first);
  EXPECT_EQ(ask("same words", "p_limit => 3"), ask("same words", "p_limit => 3"));
}

TEST_F(Search, ExplainTellsBothMeasures) {
  put({.name = "a", .text = "boiler valve", .vector = "{1, 0.1, 0, 0}"});
  ServerSession api{database};
  EXPECT_EQ(api.value(fmt::format(
                "select s #>> '{{explain,cosine}}' || ' ' || (s #>> '{{explain,config}}') from "
                "millrace.search_chunks('boiler', p_explain => true, {}) s",
                kNear)),
            "1.000000 english");
  EXPECT_EQ(api.value("select s ? 'explain' from millrace.search_chunks('boiler') s"), "f");
}

// Plans that hold at a million chunks: words and counts from the index, signatures from theirs.
TEST_F(Search, PlansUseTheIndexes) {
  put({.name = "a", .text = "boiler", .vector = "{1, 0.1, 0, 0}"});
  sql.run("set enable_seqscan = off");
  const auto plan = [&](const std::string& statement) {
    std::string all;
    for (const auto row : sql.rows("explain (costs off) " + statement))
      all += std::string(row.text(0)) + "\n";
    return all;
  };
  EXPECT_THAT(
      plan(
          R"(select count(*) from millrace.document_chunks c where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)]))
                      @@ '''a'' & ''b'''::tsquery)"),
      ::testing::HasSubstr("Bitmap Index Scan on document_chunks_scoped_words_idx"));
  EXPECT_THAT(
      plan(
          R"(select c.document_id, c.chunk_id from millrace.document_chunks c where c.tenant_id = gen_random_uuid() and c.embed_model = 'm' and c.embed_version = '1'
                      and length(c.signature) = 4 order by bit_count(c.signature # B'1010') limit 300)"),
      ::testing::HasSubstr("Index Only Scan using document_chunks_signature_idx"));
  EXPECT_THAT(
      plan("select c.config from millrace.document_chunks c where c.tenant_id = "
           "'00000000-0000-0000-0000-000000000000' and c.config > 'a' order by c.config limit 1"),
      ::testing::HasSubstr("Index Only Scan using document_chunks_config_idx"));
}

TEST_F(Search, ReplacedChunksAreNotFoundAnyMore) {
  put({.name = "a", .text = "old wording"});
  EXPECT_EQ(ask("wording"), "a 0");
  sql.run("delete from millrace.document_chunks");
  put({.name = "a", .text = "new phrase"});
  EXPECT_EQ(ask("wording"), "");
  EXPECT_EQ(ask("phrase"), "a 0");
}

}  // namespace
}  // namespace millrace::test
