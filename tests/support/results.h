#pragma once

#include <nlohmann/json.hpp>

#include "tests/support/expect.h"
#include "tests/support/program.h"

/// The includes of tests that read what programs write with --json.

using Json = nlohmann::json;
