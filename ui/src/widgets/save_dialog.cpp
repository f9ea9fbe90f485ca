#include "widgets/save_dialog.h"

#include <QFileDialog>
#include <QFileInfo>
#include <algorithm>

namespace ui {

namespace {

bool hasEnding(const QString& file, const FileForm& form) {
    return QFileInfo(file).fileName().endsWith(u'.' + form.ending, Qt::CaseInsensitive);
}

/// The form with the longest ending that the name has: a lesson is no table, though both end in
/// md.
std::size_t typedForm(const QString& typed, const std::vector<FileForm>& forms) {
    std::size_t best = forms.size();
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const bool longer =
            best == forms.size() || forms[i].ending.size() > forms[best].ending.size();
        if (hasEnding(typed, forms[i]) && longer) best = i;
    }
    return best;
}

}  // namespace

NamedFile formOf(const QString& typed, const std::vector<FileForm>& forms, std::size_t chosen) {
    const std::size_t found = typedForm(typed, forms);
    if (found == forms.size()) return {typed + u'.' + forms[chosen].ending, chosen};
    const bool same = forms[found].ending == forms[chosen].ending;
    return {typed, same ? chosen : found};
}

std::optional<NamedFile> askForFile(QWidget* parent, const QString& title, const QString& name,
                                    const std::vector<FileForm>& forms) {
    QStringList filters;
    for (const FileForm& form : forms) filters << form.filter;
    QFileDialog dialog(parent, title);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setNameFilters(filters);
    dialog.setDefaultSuffix(forms.front().ending);
    dialog.selectFile(name);
    const auto chosen = [&](const QString& filter) {
        return static_cast<std::size_t>(std::max<qsizetype>(filters.indexOf(filter), 0));
    };
    QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, [&](const QString& filter) {
        const FileForm& form = forms[chosen(filter)];
        dialog.setDefaultSuffix(form.ending);
        QString typed = dialog.selectedFiles().value(0);
        const std::size_t before = typedForm(typed, forms);
        if (before == forms.size()) return;
        typed.chop(forms[before].ending.size());
        dialog.selectFile(typed + form.ending);
    });
    for (;;) {
        if (dialog.exec() != QDialog::Accepted) return std::nullopt;
        const QString typed = dialog.selectedFiles().value(0);
        if (typed.isEmpty()) return std::nullopt;
        const NamedFile named = formOf(typed, forms, chosen(dialog.selectedNameFilter()));
        // The dialog has asked about the name that was typed, not about this one.
        if (named.file == typed || !QFileInfo::exists(named.file)) return named;
        dialog.selectFile(named.file);
    }
}

}  // namespace ui
