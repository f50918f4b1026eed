# One interface target carries the flags, so that no flag is global and every target names it.
add_library(elias_options INTERFACE)
target_compile_options(elias_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                            -Werror>)
# GCC 12 reports overlaps inside its own std::string (GCC bug 105651).
target_compile_options(elias_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)

# What nvcc generates is not pedantic, so .cu sources have flags of their own.
target_compile_options(elias_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
# fmt 9 believes that nvcc has half of constexpr; it has all of it.
target_compile_definitions(elias_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)

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
