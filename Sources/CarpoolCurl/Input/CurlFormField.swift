/// A text of `-F` or `--form-string`, as far as curl reads it with the options.
struct CurlFormField {
    /// What the text adds to the form.
    enum Role: Equatable {
        /// The content of `--form-string`.
        case literal
        /// `name=@FILE`
        case files
        /// `name=text` or `name=<FILE`
        case value
        /// `name=(`
        case opensGroup
        /// `=)`
        case closesGroup
    }

    /// `nil` for an empty one.
    let name: [UInt8]?
    /// What follows the equals sign.
    let content: [UInt8]
    let role: Role

    /// Reads a text while so many groups are open. Its errors are those of curl's option.
    init(_ argument: CurlFormArgument, openGroups: Int) throws(CurlError) {
        let bytes = Array(argument.text.utf8)
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else {
            throw CurlValueError.badUse("Illegally formatted input field", isWarning: true)
        }
        name = equals == 0 ? nil : Array(bytes[..<equals])
        content = Array(bytes[(equals + 1)...])
        role = argument.isLiteral ? .literal : CurlFormField.role(name, content)
        if role == .closesGroup, openGroups == 0 {
            throw CurlValueError.badUse("no multipart to terminate", isWarning: true)
        }
    }

    private static func role(_ name: [UInt8]?, _ content: [UInt8]) -> Role {
        switch content.first {
        case UInt8(ascii: "("): .opensGroup
        case UInt8(ascii: "@"): .files
        case UInt8(ascii: ")") where name == nil && content.count == 1: .closesGroup
        default: .value
        }
    }
}
