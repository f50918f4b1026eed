// Which values scores take: the first thing to know about a file of predictions.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "data/csr.h"

namespace elias {

/// True if every score is in [0, 1] and may be read as a probability. Throws InputError on the
/// first that is not finite; `source` names the predictions in the message.
bool check_scores(const Csr& scores, const std::string& source, ThreadPool& pool);

}  // namespace elias
