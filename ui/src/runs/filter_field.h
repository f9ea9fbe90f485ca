#pragma once

#include <QLineEdit>
#include <vector>

#include "runs/filter_names.h"

class QCompleter;
class QStandardItemModel;

namespace ui {

/// A line for a filter over runs, which completes the name of a field in the term at the cursor.
class FilterField final : public QLineEdit {
    Q_OBJECT
public:
    explicit FilterField(QWidget* parent = nullptr);

    /// The names that a term can begin with. They are listed by their titles, and found by their
    /// keys, too.
    void setNames(const std::vector<FilterName>& names);

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
    void insert(const QString& title);

    QCompleter* completer_;
    QStandardItemModel* names_;
};

}  // namespace ui
