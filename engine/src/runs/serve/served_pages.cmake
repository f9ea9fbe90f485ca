# The pages of `halftone serve`, as text within the program. Included where the target is made: only there can its sources be
# generated.
set(pages ${PROJECT_SOURCE_DIR}/resources/serve)
set(embed_pages ${CMAKE_CURRENT_SOURCE_DIR}/src/runs/serve/embed_pages.cmake)
set(served_pages ${CMAKE_CURRENT_BINARY_DIR}/served_pages.cpp)
add_custom_command(OUTPUT ${served_pages}
  COMMAND ${CMAKE_COMMAND} -DPAGES=${pages} -DTEXTS=${HALFTONE_TEXTS} -DOUT=${served_pages} -P ${embed_pages}
  DEPENDS ${pages}/page.html ${pages}/login.html ${HALFTONE_TEXTS}/engine_zh_CN.po ${embed_pages} VERBATIM)
target_sources(engine PRIVATE ${served_pages})
