#pragma once

#include <QLineEdit>

class QCompleter;
class QStringListModel;

namespace ui {

/// A line for a filter over runs, which completes the name of a field in the term at the cursor.
class FilterField final : public QLineEdit {
    Q_OBJECT
public:
    explicit FilterField(QWidget* parent = nullptr);

    /// The names that a term can begin with.
    void setNames(const QStringList& names);

signals:
    /// Down or Enter: on to the list that it filters.
    void left();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// Where the term at the cursor begins, after a dash.
    int termStart() const;
    void complete();
    void insert(const QString& name);

    QCompleter* completer_;
    QStringListModel* names_;
};

}  // namespace ui
