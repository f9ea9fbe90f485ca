# cmake --install: the program, and what a desktop or a terminal knows it by. Its pages, lessons, pictures and translations are
# compiled into it. A program in shared libraries is for the tests and is not installed.
include(GNUInstallDirs)
if(HALFTONE_LIBRARIES STREQUAL "STATIC")
  install(TARGETS halftone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(desktop ${PROJECT_SOURCE_DIR}/resources/desktop)
set(handbook ${PROJECT_SOURCE_DIR}/resources/handbook)
install(FILES ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_SOURCE_DIR}/resources/licences.txt ${desktop}/copyright ${handbook}/changes.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(completions ${PROJECT_SOURCE_DIR}/resources/completions)
install(FILES ${completions}/halftone.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME halftone)
install(FILES ${completions}/halftone.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _halftone)
install(FILES ${completions}/halftone.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The program knows its commands and settings. One that was compiled for another processor cannot be asked here.
install(CODE "
  execute_process(COMMAND \"$<TARGET_FILE:halftone>\" man OUTPUT_FILE \"${PROJECT_BINARY_DIR}/halftone.1\" RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(WARNING \"$<TARGET_FILE:halftone> does not run: no manual page is installed\")
    file(REMOVE \"${PROJECT_BINARY_DIR}/halftone.1\")
  endif()")
install(FILES ${PROJECT_BINARY_DIR}/halftone.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)

if(HALFTONE_UI)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${handbook}/changes.md)
  file(STRINGS ${handbook}/changes.md release REGEX "^## ${PROJECT_VERSION} \\(" LIMIT_COUNT 1)
  if(NOT release MATCHES "\\(([0-9-]+)\\)")
    message(FATAL_ERROR "resources/handbook/changes.md has no heading '## ${PROJECT_VERSION} (DATE)'")
  endif()
  set(release_date ${CMAKE_MATCH_1})
  configure_file(${desktop}/org.halftone.halftone.metainfo.xml.in org.halftone.halftone.metainfo.xml @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/org.halftone.halftone.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
  install(FILES ${desktop}/halftone.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${desktop}/halftone-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages RENAME halftone.xml)
  set(icons ${CMAKE_INSTALL_DATADIR}/icons/hicolor)
  install(FILES ${PROJECT_SOURCE_DIR}/resources/icons/logo.svg DESTINATION ${icons}/scalable/apps RENAME halftone.svg)
  install(FILES ${desktop}/halftone-network.svg DESTINATION ${icons}/scalable/mimetypes)
  foreach(size 16 22 24 32 48 64 128 256 512)
    install(FILES ${desktop}/icons/halftone-${size}.png DESTINATION ${icons}/${size}x${size}/apps RENAME halftone.png)
  endforeach()
else()
  # With a window these pages are in the program.
  install(DIRECTORY ${handbook} DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
endif()
