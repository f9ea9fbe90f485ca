#pragma once

#include <QSlider>

#include "tryit/run_columns.h"
#include "tryit/scene_lens.h"
#include "tryit/scene_objects.h"
#include "tryit/scene_table.h"

class QTableView;
class QToolButton;

namespace ui {

class FlowLayout;
class SceneView;

/// A picture of any size, dropped, pasted or chosen, and the objects that each run finds in it.
class SceneAsk final : public QWidget {
    Q_OBJECT
public:
    SceneAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
             QWidget* parent = nullptr);

    /// Reads it off the GUI thread.
    void openFile(const QString& file);
    /// A picture or a file; false if there is neither.
    bool take(const QMimeData* data);

    SceneLens* lens() const { return lens_; }
    const std::vector<SceneObject>& objects() const { return objects_; }
    const SceneAnswers& answers() const { return answers_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    /// A picture for the models, and for the screen.
    struct Loaded {
        std::shared_ptr<const engine::Picture> picture;
        ScenePicture shown;
    };
    QWidget* makeSide();
    QLayout* makeButtons();
    QWidget* makeTable();
    void makeKeys();
    void addClasses();
    void chooseFile();
    void paste();
    void load(std::function<engine::Picture()> read);
    void show(const Loaded& loaded);
    void ask(std::size_t run);
    void takeAnswer(std::size_t run, std::vector<engine::FoundObject> found);
    /// After an answer.
    void rejoin();
    /// After a change of the lens.
    void refresh();
    std::vector<std::string> classes() const;

    Theme* theme_;
    engine::InputForm form_;
    SceneLens* lens_;
    RunColumns* columns_;
    std::vector<SceneView*> views_;
    std::vector<QLabel*> summaries_;
    QLabel* problem_;
    QLabel* size_;
    QLabel* scoreText_;
    QSlider* score_;
    QWidget* chips_;
    FlowLayout* chipRow_;
    SceneTable* table_;
    QTableView* list_;
    std::shared_ptr<const engine::Picture> picture_;
    SceneAnswers answers_;
    std::vector<SceneObject> objects_;
    int loading_ = 0;  ///< number of the newest picture: an older one that is read later is dropped
};

}  // namespace ui
