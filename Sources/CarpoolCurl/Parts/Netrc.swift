package import CarpoolSystem

/// The text of a `.netrc` file, with the meaning that curl has for it: `machine`, `default`, `login`, `password` and
/// `macdef`; a word in quotes may have blanks and the escapes `\n`, `\r`, `\t`; a line that begins with `#` is a
/// comment.
package struct Netrc {
    /// A user and a password.
    package struct Login: Equatable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// What stands behind `machine NAME` or `default`.
    private struct Entry {
        /// In lower case; `nil` for `default`.
        let name: String?
        var user: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// The file in the home directory; `nil` without one, or if another user can replace the file.
    package static func defaultPath(_ environment: Environment) -> String? {
        environment["HOME"].map { "\($0)/.netrc" }.flatMap { PathOwnership.foreignPart(of: $0) == nil ? $0 : nil }
    }

    /// The names of the machines, each once, in the order of the file.
    package var machines: [String] {
        var seen: Set<String> = []
        return entries.compactMap(\.name).filter { seen.insert($0).inserted }
    }

    /// Reads the text; `nil` if a quoted word does not end.
    package init?(_ text: String) {
        var words = NetrcWords(text)
        while let word = words.next() {
            switch word.lowercased() {
            case "machine": entries.append(Entry(name: words.next()?.lowercased()))
            case "default": entries.append(Entry(name: nil))
            case "macdef": words.skipMacro()
            case "login": set(\.user, words.next())
            case "password": set(\.password, words.next())
            case "account": _ = words.next()
            default: break
            }
        }
        if words.isBroken { return nil }
    }

    private mutating func set(_ member: WritableKeyPath<Entry, String?>, _ word: String?) {
        // Before the first machine it belongs to none.
        guard let word, !entries.isEmpty else { return }
        entries[entries.count - 1][keyPath: member] = word
    }

    /// The login for a machine; with `user`, that of this user. The first one with a password is used, and
    /// otherwise the last one with a user. `nil` as the name is a machine that the file does not name.
    package func login(at machine: String?, user: String? = nil) -> Login? {
        let name = machine?.lowercased()
        let found = entries.filter { entry in
            guard entry.name == nil || entry.name == name, entry.user != nil || entry.password != nil else {
                return false
            }
            return user == nil || entry.user == nil || entry.user == user
        }
        let best = found.first { $0.password != nil } ?? found.last
        return best.map { Login(user: user ?? $0.user ?? "", password: $0.password ?? "") }
    }
}

/// The words of a `.netrc` file.
private struct NetrcWords {
    private var rest: Substring.UnicodeScalarView
    /// Whether a quoted word has no end.
    private(set) var isBroken = false

    init(_ text: String) {
        // Comments are removed before anything else, also inside of macros and quotes.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        var kept = String.UnicodeScalarView()
        for line in lines where line.first(where: { !NetrcWords.isBlank($0) }) != "#" {
            kept.append(contentsOf: line)
            kept.append("\n")
        }
        rest = Substring(String(kept)).unicodeScalars
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.value <= 0x20 }

    /// The next word; `nil` at the end.
    mutating func next() -> String? {
        rest = rest.drop { NetrcWords.isBlank($0) }
        guard let first = rest.first else { return nil }
        if first == "\"" { return quoted() }
        let word = rest.prefix { !NetrcWords.isBlank($0) }
        rest = rest[word.endIndex...]
        return String(word)
    }

    private mutating func quoted() -> String? {
        rest.removeFirst()
        var word = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(word)
            case "\\":
                guard let escaped = rest.popFirst() else { break }
                word.append(NetrcWords.controls[escaped] ?? escaped)
            default: word.append(scalar)
            }
        }
        isBroken = true
        return nil
    }

    private static let controls: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t"]

    /// Skips a macro: it ends before an empty line.
    mutating func skipMacro() {
        while let end = rest.firstIndex(of: "\n") {
            rest = rest[rest.index(after: end)...]
            guard rest.prefix(while: { $0 != "\n" }).contains(where: { !NetrcWords.isBlank($0) }) else { return }
        }
        rest = rest[rest.endIndex...]
    }
}
