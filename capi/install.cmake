# What `cmake --install` puts in place: the program, the library with its headers, and how others
# find it, by pkg-config or by find_package(elias). The folder may be moved afterwards.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/elias)

install(TARGETS elias RUNTIME)
install(TARGETS elias_capi EXPORT elias LIBRARY
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/elias/elias.h ${CMAKE_SOURCE_DIR}/include/elias/elias.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/elias)

file(RELATIVE_PATH ELIAS_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(elias.pc.in elias.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/elias.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(EXPORT elias NAMESPACE elias:: FILE elias-config.cmake DESTINATION ${config_folder})
write_basic_package_version_file(elias-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/elias-config-version.cmake DESTINATION ${config_folder})
