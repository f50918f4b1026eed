# Writes the C++ source OUT that holds the bytes of FILES: cmake -DOUT=... -DFILES="a;b" -P embed.cmake
set(arrays "")
set(table "")
set(number 0)
foreach(path IN LISTS FILES)
  get_filename_component(name ${path} NAME)
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  # The zero behind the bytes makes an array of an empty file possible.
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", text_of(kFile${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"server/assets.h\"

namespace elias::server {
namespace {

template <size_t N>
std::string_view text_of(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N - 1};
}

${arrays}
}  // namespace

std::span<const Asset> assets() {
  static const Asset all[] = {
${table}  };
  return all;
}

}  // namespace elias::server
")
