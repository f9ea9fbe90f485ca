# cmake -DFOLDER=... -DOUT=... -P: the lessons of a folder as C++ text (lab/lesson_text.h).
file(GLOB files ${FOLDER}/*.lesson.md)
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
file(WRITE ${OUT} "#include \"lab/lesson_text.h\"

namespace engine {

const std::vector<BuiltinLesson>& builtin_lesson_texts() {
    static const std::vector<BuiltinLesson> texts = {
${entries}    };
    return texts;
}

}  // namespace engine
")
