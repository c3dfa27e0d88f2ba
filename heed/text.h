#pragma once

/// @file
/// Text as tokens: vocabularies, byte pairs, batches, search, sampling, metrics.

#include "tensor/compiler.h"
#ifdef HEED_COMPILES

#include "nn/text/batch.h"
#include "nn/text/byte_pairs.h"
#include "nn/text/metrics.h"
#include "nn/text/sample.h"
#include "nn/text/search.h"
#include "nn/text/sequence_loss.h"
#include "nn/text/tokenise.h"
#include "nn/text/vocabulary.h"
#include "tensor/utf8.h"

#endif
