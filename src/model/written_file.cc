#include "model/written_file.h"

#include "base/mapped_file.h"
#include "model/file_checksum.h"

namespace elias {

void write_tensors(SafetensorsWriter& writer, const std::string& path) {
  writer.set_metadata("format", "elias-model");
  writer.write(path);
}

ModelFile described_file(const std::string& folder, const std::string& name) {
  const MappedFile file(fmt::format("{}/{}", folder, name));
  ThreadPool here(1);
  return {name, file.bytes().size(), file_checksum(file.bytes(), here)};
}

}  // namespace elias
