#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QPointer>
#include <vector>

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
        QPointer<QAction> action;
    };

    /// The only one.
    static KeyBindings* instance();

    /// Gives the action its keys and lists it as a command. Its text is the title.
    void bind(QAction* action, const QString& id, QList<QKeySequence> usual);
    /// The keys of a command, which may not be bound yet.
    static QList<QKeySequence> keys(const QString& id, const QList<QKeySequence>& usual);
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

    std::vector<Command> commands_;
};

}  // namespace ui
