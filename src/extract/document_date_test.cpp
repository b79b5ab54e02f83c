// Years of two figures, and days and months that may be the other way round.
#include "extract/trial.h"

#include <gtest/gtest.h>

namespace millrace::extract {
namespace {

using layout::clinical::FactType;
using layout::clinical::Rule;

std::vector<std::string> looked_at(const Trial& trial, int year = 0) {
  std::vector<std::string> out;
  for (const auto& finding : check_dates(trial.extraction, trial.detection, trial.map, year)) {
    EXPECT_EQ(finding.severity, layout::clinical::Severity::review);
    out.push_back(layout::clinical::describe(finding));
  }
  return out;
}

std::string born(const std::vector<std::string>& lines, int year = 0) {
  auto trial = try_lines(lines);
  trial.extraction = extract(trial.detection, trial.map, {}, year);
  EXPECT_EQ(looked_at(trial, year), std::vector<std::string>{}) << lines.back();
  return text_at(trial.fact(FactType::Patient, "Ada Quill"), "birth_date");
}

TEST(Births, StandInSentences) {
  for (const auto* line :
       {"Patient: Ada Quill. She was born on 3/12/38 in Boston.",
        "Patient: Ada Quill. Born on 3/12/38.", "Patientin: Ada Quill. Geboren am 12.03.38.",
        "Patiente: Ada Quill. Elle est née le 12/03/38."}) {
    const auto trial = try_lines({line});
    EXPECT_EQ(text_at(trial.fact(FactType::Patient, "Ada Quill"), "birth_date"), "1938-03-12")
        << line;
  }
}

TEST(Births, AreNotAfterTheDocument) {
  const std::string name = "Patient: Ada Quill";
  const std::string seen = "She was seen on 25/04/2024 in the clinic.";
  EXPECT_EQ(born({name, "DOB: 13/12/38", seen}), "1938-12-13");
  EXPECT_EQ(born({name, "DOB: 13/12/26", seen}), "1926-12-13");
  EXPECT_EQ(born({name, "DOB: 13/12/68", seen}), "1968-12-13");
  EXPECT_EQ(born({name, "DOB: 13/03/24", seen}), "2024-03-13");
  EXPECT_EQ(born({name, "DOB: 13/05/24", seen}), "1924-05-13");
  EXPECT_EQ(born({name, "DOB: 13.12.38", seen}), "1938-12-13");
  EXPECT_EQ(born({name, "DOB: 13-Dec-38", seen}), "1938-12-13");
  EXPECT_EQ(born({name, "DOB: 13/12/2003", seen}), "2003-12-13");
  // What lies ahead is no date of the document, and one of two figures is one of it.
  EXPECT_EQ(
      born({name, "DOB: 13/12/25", "Seen on 25/04/24.", "The next visit is on 25/04/26."}, 2024),
      "1925-12-13");
}

TEST(Births, OfPagesWithoutADateAreNotAfterTheYearThatTheDocumentCameIn) {
  const std::vector<std::string> lines = {"Patient: Ada Quill", "DOB: 13/12/38"};
  EXPECT_EQ(born(lines, 2026), "1938-12-13");
  EXPECT_EQ(born(lines, 2037), "1938-12-13");
  EXPECT_EQ(born(lines, 2038), "2038-12-13");
  EXPECT_EQ(born(lines), "1938-12-13");
}

TEST(Births, OfTheFutureAreForReview) {
  const auto trial = try_lines(
      {"Patient: Ada Quill", "DOB: 13/12/2038", "She was seen on 25/04/2024 in the clinic."});
  EXPECT_EQ(text_at(trial.fact(FactType::Patient, "Ada Quill"), "birth_date"), "2038-12-13");
  EXPECT_EQ(looked_at(trial),
            std::vector<std::string>{"facts[0].value.birth_date: date_after_document"});
  const auto bare = try_lines({"Patient: Ada Quill", "DOB: 13/12/2038"});
  EXPECT_EQ(looked_at(bare), std::vector<std::string>{});
  EXPECT_EQ(looked_at(bare, 2026),
            std::vector<std::string>{"facts[0].value.birth_date: date_after_document"});
}

TEST(Events, OfShortYearsAreNotFarAheadOfTheDocument) {
  const auto onset = [](const std::string& date) {
    const auto trial = try_lines({"Seen on 25/04/2024.", "", "Diagnoses", "1. Asthma, " + date});
    return text_at(trial.fact(FactType::Condition, "Asthma"), "onset");
  };
  EXPECT_EQ(onset("13/05/21"), "2021-05-13");
  EXPECT_EQ(onset("13/05/27"), "2027-05-13");
  EXPECT_EQ(onset("13/05/38"), "1938-05-13");
  EXPECT_EQ(onset("13/05/99"), "1999-05-13");
}

// -- which part is the day --

std::string onset(const Trial& trial, std::string_view name = "Asthma") {
  return text_at(trial.fact(FactType::Condition, name), "onset");
}

const std::vector<std::string> kAmbiguous = {"facts[0].value.onset: ambiguous_date"};

TEST(DateOrder, ThatNothingShowsIsForReviewInEnglish) {
  const auto trial =
      try_lines({"The patient was seen in the clinic.", "", "Diagnoses", "1. Asthma, 05/04/2024"});
  ASSERT_EQ(trial.detection.language, "en");
  EXPECT_EQ(onset(trial), "2024-05-04");
  EXPECT_EQ(looked_at(trial), kAmbiguous);
  const auto british = try_lines({"The patient was seen in the NHS clinic with oedema.", "",
                                  "Diagnoses", "1. Asthma, 05/04/2024"});
  EXPECT_EQ(onset(british), "2024-04-05");
  EXPECT_FALSE(looked_at(british).empty());
}

TEST(DateOrder, IsWhatADateOfThePageShows) {
  const auto trial =
      try_lines({"The patient was seen on 25/03/2024.", "", "Diagnoses", "1. Asthma, 05/04/2024"});
  EXPECT_EQ(onset(trial), "2024-04-05");
  EXPECT_EQ(looked_at(trial), std::vector<std::string>{});
  const auto form = try_lines({"The patient was seen in the clinic, DD/MM/YYYY.", "", "Diagnoses",
                               "1. Asthma, 05/04/2024"});
  EXPECT_EQ(onset(form), "2024-04-05");
  EXPECT_EQ(looked_at(form), std::vector<std::string>{});
  const auto both = try_lines({"The patient was seen on 25/03/2024 and on 03/26/2024.", "",
                               "Diagnoses", "1. Asthma, 05/04/2024"});
  EXPECT_EQ(looked_at(both), kAmbiguous);
}

TEST(DateOrder, IsThatOfTheLanguageWhereItHasOne) {
  const auto german = try_lines({"Die Patientin wurde in die Klinik aufgenommen und behandelt.", "",
                                 "Diagnosen", "1. Asthma, 05/04/2024"});
  ASSERT_EQ(german.detection.language, "de");
  EXPECT_EQ(onset(german), "2024-04-05");
  EXPECT_EQ(looked_at(german), std::vector<std::string>{});
}

TEST(DateOrder, DoesNotMatterWhereThereIsOneReading) {
  for (const auto* date : {"05/05/2024", "5 April 2024", "05.04.2024", "2024-04-05", "04/2024"}) {
    const auto trial = try_lines({"The patient was seen in the clinic.", "", "Diagnoses",
                                  "1. Asthma, " + std::string(date)});
    EXPECT_EQ(looked_at(trial), std::vector<std::string>{}) << date;
  }
}

}  // namespace
}  // namespace millrace::extract
