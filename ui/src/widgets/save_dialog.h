#pragma once

#include <QString>
#include <optional>
#include <vector>

class QWidget;

namespace ui {

/// A form in which a file can be saved.
struct FileForm {
    QString filter;  ///< as the dialog lists it: "Table (*.md)"
    QString ending;  ///< without its dot; it may have one inside, as that of lessons has
};

struct NamedFile {
    QString file;
    std::size_t form = 0;  ///< index into the forms
};

/// The one rule for names of saved files. A typed ending decides the form; where several forms have
/// it, the chosen one if it is among them. Any other name gets the ending of the chosen form.
NamedFile formOf(const QString& typed, const std::vector<FileForm>& forms, std::size_t chosen);

/// Asks for a file. Another filter changes the ending of the name. Nothing if the user cancels.
std::optional<NamedFile> askForFile(QWidget* parent, const QString& title, const QString& name,
                                    const std::vector<FileForm>& forms);

}  // namespace ui
