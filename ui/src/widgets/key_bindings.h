#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QString>
#include <functional>
#include <utility>
#include <vector>

class QPushButton;
class QWidget;

namespace ui {

/// The keys of the window's commands: the usual ones, or those that the user has chosen, which are
/// kept between starts. GUI thread.
class KeyBindings final : public QObject {
    Q_OBJECT
public:
    struct Command {
        QString id;     ///< as in the settings: "run/pause"
        QString title;  ///< as the menu shows it, without its dots
        QList<QKeySequence> usual;
        QPointer<QAction> action;  ///< null: of a page that was not opened yet

        /// Its keys now.
        QList<QKeySequence> now() const;
    };

    /// The only one.
    static KeyBindings* instance();

    /// Lists a command whose action is made later, so that its keys can be chosen before. Once for
    /// each; a later call changes the title, which is in the window's language.
    void declare(const QString& id, const QString& title, QList<QKeySequence> usual);
    /// Gives the action its keys and lists it as a command. Its text is the title, unless it was
    /// declared.
    void bind(QAction* action, const QString& id, QList<QKeySequence> usual);
    /// The keys of a command, which may not be bound yet.
    static QList<QKeySequence> keys(const QString& id, const QList<QKeySequence>& usual);
    /// While `by` asks for it, the command has no keys: they mean something else there.
    void withhold(const QString& id, QObject* by, bool withheld);
    /// Chooses keys for a command; an empty list takes its keys away.
    void choose(const QString& id, const QList<QKeySequence>& keys);
    /// Back to the usual keys: of one command, or of all for an empty id.
    void reset(const QString& id = {});
    /// The commands of the windows that exist, in the order in which they were bound.
    std::vector<Command> commands();
    /// The other command that has this key; null: none. Commands of two pages may share a key:
    /// only one of the pages is shown.
    const Command* userOf(const QKeySequence& key, const QString& besides);

signals:
    void changed();

private:
    void apply();

    bool isWithheld(const QString& id) const;

    std::vector<Command> commands_;
    std::vector<Command> declared_;
    std::vector<std::pair<QString, QPointer<QObject>>> withheld_;
};

/// Gives a page keys that act wherever the focus is in its window, while the page is shown. `id`
/// and `title` are those of a command, see KeyBindings; ids of one page begin alike: "twin/resync".
void addPageKey(QWidget* page, const QString& id, const QString& title,
                const QList<QKeySequence>& keys, const std::function<void()>& act);
/// Adds a key for a button of the page: the key clicks it, and does nothing while it is disabled.
void addPageKey(QWidget* page, const QString& id, const QKeySequence& key, QPushButton* button);

/// The keys that start a comparison elsewhere start this page's own work while it is shown.
void takeRunKeys(QWidget* page, const std::function<void()>& act);

}  // namespace ui
