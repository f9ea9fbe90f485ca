# The templates of networks, as text within the program. Included where the target is made: only there can its sources be
# generated.
set(networks ${PROJECT_SOURCE_DIR}/resources/networks)
set(embed_texts ${CMAKE_CURRENT_SOURCE_DIR}/src/base/embed_texts.cmake)
set(builtin_networks ${CMAKE_CURRENT_BINARY_DIR}/builtin_networks.cpp)
file(GLOB network_files CONFIGURE_DEPENDS ${networks}/*.network)
add_custom_command(OUTPUT ${builtin_networks}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${networks} -DPATTERN=*.network -DOUT=${builtin_networks} -DHEADER=network/builtin_networks.h
          -DTYPE=BuiltinNetwork -DFUNCTION=builtin_network_texts -P ${embed_texts}
  DEPENDS ${network_files} ${embed_texts} VERBATIM)
target_sources(engine PRIVATE ${builtin_networks})
