// The thread pools of a Python process: one for each number of threads that was asked for, shared
// by all models and runs.
//
// They live as long as the process does: threads that wait cost nothing, and those of a parent
// process do not exist in one that it forked (as multiprocessing does), which gets pools of its own
// and could not end theirs.
#pragma once

#include "base/thread_pool.h"

namespace elias::python {

/// Throws InputError unless `threads` is from 0, which stands for all of the machine's, to 1024.
ThreadPool& shared_pool(int threads);

}  // namespace elias::python
