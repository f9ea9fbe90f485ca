#pragma once

#include <QColor>
#include <QString>
#include <optional>
#include <vector>

#include "engine/train/trained_model.h"

namespace ui {

/// Colour of a class in pictures, the same in both themes.
QColor classColor(std::int32_t label);

/// Overlap of two boxes (x, y, width, height) over what they cover together.
double overlap(const std::array<double, 4>& a, const std::array<double, 4>& b);

/// An object of a picture, as the runs found it.
struct SceneObject {
    std::int32_t label = 0;
    std::array<double, 4> box{};  ///< by the first run that has it
    /// By run its place in that run's answer.
    std::vector<std::optional<std::size_t>> found;
    std::vector<double> scores;  ///< by run; 0: it has none

    double best() const;
    /// How many runs have it from this score on.
    int runsFrom(double score) const;
};

/// Objects by run that it found in a picture: no value until it has answered.
using SceneAnswers = std::vector<std::optional<std::vector<engine::FoundObject>>>;

/// The objects of all runs, each once: boxes of one class with an overlap of at least one half are
/// the same. By falling score.
std::vector<SceneObject> joined(const SceneAnswers& answers);

/// "Nothing above 0.50. Highest: square 0.31."; empty if something is.
QString nothingAbove(double score, const std::vector<engine::FoundObject>& found,
                     const std::vector<std::string>& classes);

}  // namespace ui
