// Sparse matrices in npz files, as scipy.sparse.save_npz writes and load_npz reads them: a zip of
// the arrays data, indices, indptr, shape and format.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "data/csr.h"
#include "data/io/byte_sink.h"

namespace elias {

/// Reads a CSR matrix from a file's bytes. `name` is for messages. Explicit zeros are kept, columns
/// sorted, repeats summed. Throws InputError on anything that is damaged or not a CSR matrix.
Csr read_npz(std::span<const std::byte> bytes, const std::string& name);

/// Reads it from `path`, or from standard input if that is "-"; gzip is undone.
Csr read_npz(const std::string& path);

/// True if `path` is a file on disk with the zip signature: one that read_npz maps.
bool is_mappable_npz(const std::string& path);

/// Writes `matrix` deflated, as float32 with int32 indices (int64 where they do not fit).
void write_npz(const std::string& path, const Csr& matrix);

/// The same into a sink that the caller commits.
void write_npz(ByteSink& sink, const Csr& matrix);

}  // namespace elias
