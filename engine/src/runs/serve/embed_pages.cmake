# cmake -DFOLDER=... -DOUT=... -P: the pages of `halftone serve` as C++ text (runs/serve/pages.h).
set(functions "")
foreach(page page:main_page login:login_page)
  string(REPLACE ":" ";" page ${page})
  list(GET page 0 name)
  list(GET page 1 function)
  file(READ ${FOLDER}/${name}.html text HEX)
  string(LENGTH "${text}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
  string(APPEND functions "std::string_view ${function}() { return {\"${text}\", ${bytes}}; }\n")
endforeach()
file(WRITE ${OUT} "#include \"runs/serve/pages.h\"

namespace engine {

${functions}
}  // namespace engine
")
