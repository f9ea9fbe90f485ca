#include "tryit/scene_objects.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/data/class_colours.h"
#include "tryit/tried_model.h"

namespace ui {
namespace {

constexpr double sameObject = 0.5;  // overlap

}  // namespace

QColor classColor(std::int32_t label) {
    const auto colour = engine::class_colour(label);
    return {colour[0], colour[1], colour[2]};
}

double overlap(const std::array<double, 4>& a, const std::array<double, 4>& b) {
    const auto shared = [&](std::size_t axis) {
        return std::min(a[axis] + a[axis + 2], b[axis] + b[axis + 2]) - std::max(a[axis], b[axis]);
    };
    if (!(shared(0) > 0 && shared(1) > 0)) return 0;
    const double both = shared(0) * shared(1);
    return both / (a[2] * a[3] + b[2] * b[3] - both);
}

double SceneObject::best() const { return *std::ranges::max_element(scores); }

int SceneObject::runsFrom(double score) const {
    int out = 0;
    for (std::size_t run = 0; run < found.size(); ++run)
        out += found[run].has_value() && scores[run] >= score ? 1 : 0;
    return out;
}

std::vector<SceneObject> joined(const SceneAnswers& answers) {
    std::vector<SceneObject> out;
    for (std::size_t run = 0; run < answers.size(); ++run) {
        if (!answers[run]) continue;
        for (std::size_t i = 0; i < answers[run]->size(); ++i) {
            const engine::FoundObject& each = (*answers[run])[i];
            // Answers come by falling score, so a better object of the run has chosen before.
            SceneObject* same = nullptr;
            double most = sameObject;
            for (SceneObject& object : out) {
                if (object.label != each.label || object.found[run]) continue;
                const double shared = overlap(object.box, each.box);
                if (shared < most || (same != nullptr && shared == most)) continue;
                same = &object;
                most = shared;
            }
            if (same == nullptr) {
                same = &out.emplace_back();
                same->label = each.label;
                same->box = each.box;
                same->found.resize(answers.size());
                same->scores.resize(answers.size());
            }
            same->found[run] = i;
            same->scores[run] = each.score;
        }
    }
    std::ranges::stable_sort(out, std::greater(), &SceneObject::best);
    return out;
}

QString nothingAbove(double score, const std::vector<engine::FoundObject>& found,
                     const std::vector<std::string>& classes) {
    if (found.empty()) return QCoreApplication::translate("ui::SceneAsk", "Nothing found.");
    const auto best = std::ranges::max_element(found, {}, &engine::FoundObject::score);
    if (best->score >= score) return {};
    return QCoreApplication::translate("ui::SceneAsk", "Nothing above %1. Highest: %2 %3.")
        .arg(score, 0, 'f', 2)
        .arg(className(classes, static_cast<std::size_t>(best->label - 1)))
        .arg(best->score, 0, 'f', 2);
}

}  // namespace ui
