#pragma once

#include <nlohmann/json.hpp>

#include "tests/support/expect.h"
#include "tests/support/program.h"

/// The includes of tests that read the JSON results of programs.

using Json = nlohmann::json;
