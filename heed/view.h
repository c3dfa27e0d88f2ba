#pragma once

/// @file
/// What people look at: attention weights as text, heat map and page, the tape of an engine run, summaries,
/// tables.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "nn/view/capture.h"
#include "nn/view/heat_map.h"
#include "nn/view/page.h"
#include "nn/view/summary.h"
#include "nn/view/tape.h"
#include "nn/view/tape_page.h"
#include "nn/view/text.h"
#include "tensor/table.h"

#endif
