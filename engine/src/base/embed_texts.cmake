# cmake -DFOLDER=... -DPATTERN=... -DOUT=... -DHEADER=... -DTYPE=... -DFUNCTION=... -P: the files of a folder as C++ text. HEADER
# declares FUNCTION, which returns a std::vector of TYPE, {name of the file, its text}.
file(GLOB files ${FOLDER}/${PATTERN})
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text HEX)
  string(LENGTH "${text}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" text "${text}")
  string(APPEND entries "    {\"${name}\", std::string_view(\"${text}\", ${bytes})},\n")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"

namespace engine {

const std::vector<${TYPE}>& ${FUNCTION}() {
    static const std::vector<${TYPE}> texts = {
${entries}    };
    return texts;
}

}  // namespace engine
")
