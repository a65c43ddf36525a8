#include "src/gate/decide.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace rope_bench {
namespace {

GateCase rounds(const std::string& name, std::vector<double> log_ratios) {
  GateCase c;
  c.name = name;
  c.log_ratios = std::move(log_ratios);
  c.base_us = c.new_us = 100;
  return c;
}

// Ten rounds around a slowdown.
GateCase around(const std::string& name, double mean, double noise = 0.002) {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.push_back(mean + (i % 2 == 0 ? noise : -noise));
  return rounds(name, values);
}

std::vector<GateCase> none_again(const std::vector<size_t>&) {
  ADD_FAILURE() << "nothing is red";
  return {};
}

using Names = std::vector<std::string>;
Names verdicts(const std::vector<GateVerdict>& all) {
  Names names;
  for (const GateVerdict& v : all) names.emplace_back(name(v.verdict));
  return names;
}

// One case, whose measurements come one after the other; all of them are asked for.
Names one(const std::vector<GateCase>& measurements) {
  size_t next = 1;
  const auto all = decide({measurements[0]}, {}, [&](const std::vector<size_t>& indices) {
    EXPECT_EQ(indices, std::vector<size_t>{0});
    EXPECT_LT(next, measurements.size()) << "measured too often";
    return std::vector<GateCase>{measurements[next++ % measurements.size()]};
  });
  EXPECT_EQ(all[0].rerun, next > 1);
  EXPECT_EQ(next, measurements.size()) << "measured too rarely";
  return verdicts(all);
}

TEST(Decide, EveryVerdict) {
  std::vector<std::vector<size_t>> asked;
  const std::vector<GateVerdict> all = decide(
      {around("same", 0), around("slow", 0.06), around("fast", -0.06), around("loud", 0.01, 0.1)},
      {}, [&](const std::vector<size_t>& indices) {
        asked.push_back(indices);
        return std::vector<GateCase>{around("slow", 0.05), around("loud", 0.01, 0.1)};
      });
  EXPECT_EQ(asked, (std::vector<std::vector<size_t>>{{1, 3}}));
  EXPECT_EQ(verdicts(all), (Names{"pass", "regression", "improvement", "inconclusive"}));
  EXPECT_EQ(exit_code_of(all), ExitCode::kSlower);
  EXPECT_TRUE(all[1].rerun);
  EXPECT_NEAR(all[1].test->change.slowdown, std::expm1(0.05), 1e-9);  // of the rerun, not pooled
  EXPECT_TRUE(table_of(all, {}).summary.starts_with(
      "gate: 1 pass, 1 regression, 1 improvement, 1 inconclusive; regression: slow; margin 2 %"))
      << table_of(all, {}).summary;
}

// Every course that measurements can take: two reds of three, and nothing measured that cannot
// change the verdict. `loud` is what one disturbed round does to ten good ones.
TEST(Decide, ARedComesTwiceOfThreeTimes) {
  const GateCase red = around("a", 0.06), good = around("a", 0), fast = around("a", -0.06);
  GateCase loud = around("a", 0);
  loud.log_ratios[3] = 0.4;
  EXPECT_EQ(one({good}), Names{"pass"});
  EXPECT_EQ(one({fast}), Names{"improvement"});
  EXPECT_EQ(one({red, red}), Names{"regression"});
  EXPECT_EQ(one({red, good}), Names{"pass"});
  EXPECT_EQ(one({red, fast}), Names{"improvement"});
  EXPECT_EQ(one({red, loud, red}), Names{"regression"});
  EXPECT_EQ(one({red, loud, good}), Names{"pass"});
  EXPECT_EQ(one({red, loud, loud}), Names{"inconclusive"});
  EXPECT_EQ(one({loud, good}), Names{"pass"});
  EXPECT_EQ(one({loud, fast}), Names{"improvement"});
  EXPECT_EQ(one({loud, loud}), Names{"inconclusive"});  // a third cannot make two reds
  EXPECT_EQ(one({loud, red, red}), Names{"regression"});
  EXPECT_EQ(one({loud, red, good}), Names{"pass"});
  EXPECT_EQ(one({loud, red, loud}), Names{"inconclusive"});
}

TEST(Decide, AnInterruptedRerunIsInconclusiveAndIsNotMeasuredOn) {
  const GateCase nothing = rounds("a", {});
  EXPECT_EQ(one({around("a", 0.06), nothing}), Names{"inconclusive"});
  EXPECT_EQ(one({around("a", 0.01, 0.1), nothing}), Names{"inconclusive"});
}

// Some rounds of a case that failed do not make up for the failure, whatever they say.
TEST(Decide, AnErrorIsNotMeasuredAway) {
  for (GateCase failed : {around("a", 0.06), around("a", 0.01, 0.1)}) {
    failed.error = true;
    const auto all = decide({failed}, {}, none_again);
    EXPECT_EQ(exit_code_of(all), ExitCode::kInternal);
  }
}

// One red among noise is confirmed as if it were alone.
TEST(Decide, UndecidedCasesTakeNoPowerFromRedOnes) {
  std::vector<GateCase> cases(60, around("loud", 0.01, 0.1));
  cases[0] = around("a", 0.06);
  // p of 0.01 to 0.02: enough for one case, not for sixty.
  const GateCase weak = around("a", 0.06, 0.05);
  const double p = paired_test(weak.log_ratios, 0.02).p_slower;
  EXPECT_GT(p, 0.05 / 60);
  EXPECT_LT(p, 0.05);
  const auto all = decide(cases, {}, [&](const std::vector<size_t>& indices) {
    std::vector<GateCase> rows(indices.size(), around("loud", 0.01, 0.1));
    if (indices[0] == 0) rows[0] = weak;
    return rows;
  });
  EXPECT_EQ(all[0].verdict, Verdict::kRegression);
}

TEST(Decide, ARerunThatIsWrongIsWrong) {
  GateCase wrong = around("a", 0.06);
  wrong.wrong = true;
  EXPECT_EQ(one({around("a", 0.06), wrong}), Names{"wrong"});
}

TEST(Decide, MarginsOfCasesAndTheFloor) {
  GateRules rules;
  rules.own_margin = [](const GateCase& c) { return c.name == "wide" ? 0.1 : 0; };
  GateCase tiny = around("tiny", 0.08);
  tiny.base_us = 3;  // 0.3 us are 10 %
  const auto all = decide({around("wide", 0.06), tiny}, rules, none_again);
  EXPECT_EQ(verdicts(all), (Names{"pass", "pass"}));
  EXPECT_DOUBLE_EQ(all[0].margin, 0.1);
  EXPECT_DOUBLE_EQ(all[1].margin, 0.1);
}

TEST(Decide, WrongResultsAndCasesWithoutRounds) {
  GateCase wrong = around("wrong", -0.06);
  wrong.wrong = true;
  GateCase unsupported = rounds("unsupported", {});
  unsupported.reason = "why";
  EXPECT_EQ(exit_code_of(decide({wrong, unsupported}, {}, none_again)), ExitCode::kWrong);
  EXPECT_EQ(exit_code_of(decide({around("a", 0), unsupported}, {}, none_again)),
            ExitCode::kInconclusive);
  EXPECT_EQ(exit_code_of(decide({unsupported}, {}, none_again)), ExitCode::kNothingRan);
  EXPECT_EQ(exit_code_of(decide({}, {}, none_again)), ExitCode::kNothingRan);
  GateCase empty = rounds("no tokens", {});
  empty.no_tokens = true;
  EXPECT_EQ(verdicts(decide({around("a", 0), empty}, {}, none_again)), (Names{"pass", "pass"}));
  unsupported.error = true;
  EXPECT_EQ(exit_code_of(decide({wrong, unsupported}, {}, none_again)), ExitCode::kInternal);
}

// Whole gates of 60 cases whose noise is as large as the margin and which are slower by just that,
// so that all are measured again: red in hardly any gate; a slowdown of 6 % is found.
TEST(Decide, FamilyOfSixtyCasesInSimulation) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  const auto sample = [&](size_t count, double mean) {
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(mean + noise(random));
    return rounds("c", values);
  };
  int gates_red = 0, first_red = 0, found = 0;
  constexpr int kGates = 500;
  for (int gate = 0; gate < kGates; ++gate) {
    std::vector<GateCase> cases;
    for (int i = 0; i < 59; ++i) cases.push_back(sample(20, std::log(1.02)));
    cases.push_back(sample(20, std::log(1.06)));
    std::vector<double> p;
    for (int i = 0; i < 59; ++i) p.push_back(paired_test(cases[i].log_ratios, 0.02).p_slower);
    const std::vector<bool> fallen = holm(p, kAlpha);
    first_red += std::find(fallen.begin(), fallen.end(), true) != fallen.end() ? 1 : 0;
    const auto all = decide(cases, {}, [&](const std::vector<size_t>& indices) {
      std::vector<GateCase> again;
      for (const size_t i : indices) again.push_back(sample(40, std::log(i < 59 ? 1.02 : 1.06)));
      return again;
    });
    bool red = false;
    for (size_t i = 0; i < 59; ++i) red |= all[i].verdict == Verdict::kRegression;
    gates_red += red ? 1 : 0;
    found += all[59].verdict == Verdict::kRegression ? 1 : 0;
  }
  EXPECT_LE(first_red, 39);  // 5 % of 500 is 25; three standard errors (4.9) above
  EXPECT_LE(gates_red, 9);   // 3 * 5 % * 5 % of 500 is 3.75; three standard errors (1.9) above
  EXPECT_GE(found, 480);
}

}  // namespace
}  // namespace rope_bench
