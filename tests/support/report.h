#pragma once

#include "tests/support/expect.h"

/// The names of the failed checks.
inline Texts failures(const ModuleReport& report) {
  Texts names;
  for (const ModuleCheck& check : report.checks)
    if (check.verdict == ModuleCheck::Verdict::failed) names.push_back(check.name);
  return names;
}
