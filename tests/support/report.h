#pragma once

#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

/// The names of the checks that failed.
inline Texts failures(const heed::ModuleReport& report) {
  Texts names;
  for (const heed::ModuleCheck& check : report.checks)
    if (check.verdict == heed::ModuleCheck::Verdict::failed) names.push_back(check.name);
  return names;
}
