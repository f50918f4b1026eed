# One interface target carries the flags, so that no flag is global and every target names it.
add_library(elias_options INTERFACE)
target_compile_options(elias_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wno-sign-conversion -Werror)
# GCC 12 reports overlaps inside its own std::string (GCC bug 105651).
target_compile_options(elias_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

set(ELIAS_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them")
if(ELIAS_SANITIZE)
  target_compile_options(elias_options INTERFACE -fsanitize=${ELIAS_SANITIZE}
                                                 -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(elias_options INTERFACE -fsanitize=${ELIAS_SANITIZE})
endif()

# For code that is not hot but includes much (CLI11, GoogleTest): optimising it, above all under
# sanitizers, takes more time than it saves.
add_library(elias_quick_compile INTERFACE)
if(ELIAS_SANITIZE)
  target_compile_options(elias_quick_compile INTERFACE -O0)
else()
  target_compile_options(elias_quick_compile INTERFACE -O1)
endif()
