# Debian packages only; README.md names each with its reason, ./dev installs them.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
# Headers alone: instruction sets are chosen by our own code.
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h REQUIRED)
find_path(HNSWLIB_INCLUDE_DIR hnswlib/hnswlib.h REQUIRED)
if(ELIAS_TESTS)
  find_package(GTest REQUIRED)
  # The reference that sparse classifiers are held to.
  find_path(LIBLINEAR_INCLUDE_DIR linear.h REQUIRED)
  find_library(LIBLINEAR_LIBRARY linear REQUIRED)
endif()
