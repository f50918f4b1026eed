// The checksum of a model's file, made on all threads: a model is verified each time it is loaded.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/thread_pool.h"

namespace elias {

/// 16 hexadecimal digits: the hash of the hashes (base/hash.h) of all pieces of 16 KiB. Against
/// damage, not malice. Part of the file format.
std::string file_checksum(std::span<const std::byte> bytes, ThreadPool& pool);

}  // namespace elias
