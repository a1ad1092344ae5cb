/// Text in the macros of man(7).
public struct Roff: Sendable {
    /// The page so far.
    public private(set) var text = ""

    /// The head of a page of a section of the manual: 1 has commands, 8 daemons.
    public init(name: String, section: Int = 1, version: String) {
        let title = Roff.quoted(name.uppercased())
        text = ".TH \(title) \(section) \"\" \(Roff.quoted("carpool \(version)")) \"Carpool\"\n"
    }

    /// Begins a section.
    public mutating func section(_ title: String) { text += ".SH \(Roff.quoted(title))\n" }

    /// Begins a part of a section.
    public mutating func subsection(_ title: String) { text += ".SS \(Roff.quoted(title))\n" }

    /// A line that is joined with the next one.
    public mutating func line(_ words: String) { text += Roff.escaped(words) + "\n" }

    /// Begins a paragraph.
    public mutating func paragraph() { text += ".PP\n" }

    /// An entry of a list, with a tag in bold letters and the rest of its line in italics.
    public mutating func entry(_ tag: String, _ rest: String, _ words: String) {
        text += ".TP\n\\fB\(Roff.escaped(tag))\\fR"
        text += rest.isEmpty ? "\n" : " \\fI\(Roff.escaped(rest))\\fR\n"
        line(words)
    }

    /// A text as it is, in lines of its own.
    public mutating func example(_ words: String) {
        text += ".PP\n.nf\n.RS 4\n\(Roff.escaped(words))\n.RE\n.fi\n"
    }

    /// The words in bold letters, then some in the usual ones.
    public mutating func usage(_ bold: String, _ rest: String) {
        text += "\\fB\(Roff.escaped(bold))\\fR\(rest.isEmpty ? "" : " ")\(Roff.escaped(rest))\n"
    }

    /// The text without a meaning for roff; the signs that roff would replace stay as they are typed in a shell.
    public static func escaped(_ text: String) -> String {
        var result = ""
        for sign in text {
            switch sign {
            case "\\": result += "\\(rs"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            default: result.append(sign)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }

    /// The text as one argument of a macro.
    private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }
}
