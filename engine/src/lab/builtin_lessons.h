#pragma once

#include <string_view>
#include <vector>

namespace engine {

/// A lesson of resources/lessons as the build found it.
struct BuiltinLesson {
    std::string_view file;  ///< "underflow.zh.lesson.md"
    std::string_view text;
};
/// By the file's name. Written by embed_lessons.cmake.
const std::vector<BuiltinLesson>& builtin_lesson_texts();

}  // namespace engine
