#pragma once

#include "models/row_model.h"
#include "tryit/scene_lens.h"
#include "tryit/scene_objects.h"

namespace ui {

/// A run of SceneTable.
struct SceneRun {
    QString title;
    bool answered = false;
};

/// The objects of a picture that some run has from the lens' score on: class, size, and the score
/// by run. Qt::UserRole has the object's place in the list of joined().
class SceneTable final : public RowModel<int> {
    Q_OBJECT
public:
    SceneTable(const SceneLens* lens, QObject* parent);

    /// The objects outlive this or the next call.
    void show(const std::vector<SceneObject>* objects, std::vector<SceneRun> runs,
              std::vector<std::string> classes);
    /// After a change of the lens.
    void choose();
    /// Its row; -1: it is not listed.
    int rowOf(int object) const;

private:
    QVariant value(const int& object, int column, int role) const override;
    const SceneObject& at(int object) const {
        return (*objects_)[static_cast<std::size_t>(object)];
    }
    QString scoreText(int object, std::size_t run) const;
    QString note(int object) const;

    const SceneLens* lens_;
    const std::vector<SceneObject>* objects_ = nullptr;
    std::vector<SceneRun> runs_;
    std::vector<std::string> classes_;
};

}  // namespace ui
