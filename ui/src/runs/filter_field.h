#pragma once

#include <QLineEdit>
#include <QString>
#include <vector>

#include "engine/base/message.h"
#include "engine/runs/run_fields.h"

class QCompleter;
class QStandardItemModel;

namespace ui {

/// A name that a term of a filter over runs can begin with.
struct FilterName {
    QString title;  ///< "Learning rate", as the window calls the field
    QString key;    ///< "optimizer.lr", as filters of the command line do
};

/// Names of the fields, each title once.
std::vector<FilterName> filterNames(const std::vector<engine::RunField>& fields);
/// A title as it is written in a term: in quotes if it has several words.
QString quotedTitle(const QString& title);
/// The filter with keys in place of titles: `"Learning rate">0.01` becomes `optimizer.lr>0.01`.
QString filterWithKeys(const QString& filter, const std::vector<FilterName>& names);
/// Says what is wrong with a filter, with titles in place of keys, as they are written in a term.
engine::Message messageWithTitles(engine::Message message, const std::vector<FilterName>& names);

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
