#pragma once

#include <QObject>
#include <QString>
#include <QVariant>
#include <map>

class QWidget;

namespace ui {

/// Everything that a person has set in the widgets below one: scroll positions, tabs, fields,
/// switches, columns, selected and unfolded rows, the focus. Taken before the widgets are made
/// anew, for another language, and put back afterwards. A widget is known by its place among those
/// of its class. One with a property `kept` has that content kept, too. GUI thread.
class WidgetState {
public:
    WidgetState() = default;
    /// Reads the state of the widgets below `root`.
    static WidgetState of(const QWidget* root);
    /// Puts back what belongs to existing widgets, each once; the rest can be put back later. A
    /// scroll position is reached as soon as its area is long enough.
    /// `within`: only in this widget.
    void restore(QWidget* root, const QWidget* within = nullptr);
    bool isEmpty() const { return values_.empty(); }

private:
    void restoreChild(QWidget* widget, const QString& path);

    std::map<QString, QVariantMap> values_;  ///< by the widget's path
    QString focused_;
};

/// The state that is put back while pages fill themselves. Child of Context::kept.
class KeptState final : public QObject {
    Q_OBJECT
public:
    KeptState(WidgetState state, QWidget* window, QObject* parent);
    /// Looks again for widgets in this one: some have been made since.
    static void restoreIn(QObject* kept, const QWidget* page);

private:
    WidgetState state_;
    QWidget* window_;
};

}  // namespace ui
