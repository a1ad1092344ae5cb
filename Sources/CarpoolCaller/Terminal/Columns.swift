package import CarpoolSystem
internal import Glibc

/// The width of standard output, and texts that fit it.
package struct Columns {
    /// `nil` if the output is no terminal: lines are whole then.
    package let width: Int?
    /// Whether characters beyond ASCII can be printed, by the variables of the locale.
    package let hasUnicode: Bool

    /// Those of the process.
    package static func process(_ environment: Environment = .process) -> Columns {
        var size = winsize()
        let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let locale = environment["LC_ALL"] ?? environment["LC_CTYPE"] ?? environment["LANG"] ?? ""
        let name = locale.uppercased()
        return Columns(
            width: isTerminal ? Int(size.ws_col) : nil, hasUnicode: name.contains("UTF-8") || name.contains("UTF8"))
    }

    /// The text, cut with an ellipsis if it is longer than the line.
    package func fitting(_ text: String) -> String { width.map { cut(text, $0) } ?? text }

    /// The text, cut with an ellipsis after so many columns.
    package func cut(_ text: String, _ columns: Int) -> String {
        guard Columns.count(text) > columns else { return text }
        let mark = hasUnicode ? "…" : "..."
        var result = ""
        var used = mark.count
        for scalar in text.unicodeScalars {
            used += Columns.count(of: scalar)
            guard used <= columns else { break }
            result.unicodeScalars.append(scalar)
        }
        return columns < mark.count ? String(mark.prefix(max(0, columns))) : result + mark
    }

    /// The columns of a text: two for wide characters, none for those that combine.
    package static func count(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + count(of: $1) } }

    private static func count(of scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(scalar.value) ? 2 : 1
        }
    }

    /// The blocks of wide characters (UAX 11): Hangul, CJK, full-width forms, emoji.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
