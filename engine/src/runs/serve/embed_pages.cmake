# cmake -DPAGES=... -DTEXTS=... -DOUT=... -P: the pages of `halftone serve` and their texts as C++ text (runs/serve/pages.h).
set(functions "")
foreach(function main_page login_page chinese_texts)
  set(file_main_page ${PAGES}/page.html)
  set(file_login_page ${PAGES}/login.html)
  set(file_chinese_texts ${TEXTS}/engine_zh_CN.po)
  file(READ ${file_${function}} text HEX)
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
