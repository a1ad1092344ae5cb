/// What to write in place of an item of HTTPie, such as `name==value`, that stands where a URL is expected.
enum ItemAdvice {
    /// The option that means the same; `nil` for what may be a URL.
    static func option(for operand: String) -> String? {
        let name = operand.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
        let rest = operand[name.endIndex...]
        guard !name.isEmpty else { return nil }
        if rest.hasPrefix("==") { return "--query '\(name)=\(rest.dropFirst(2))'" }
        if rest.hasPrefix(":=") { return "--json '{\"\(name)\": \(rest.dropFirst(2))}'" }
        if rest.hasPrefix("=@") { return "-F '\(name)=@\(rest.dropFirst(2))'" }
        if rest.hasPrefix("=") { return "-d '\(name)=\(rest.dropFirst(1))'" }
        // HOST:PORT, HOST:PORT/PATH, USER@HOST, USER:PASSWORD@HOST and SCHEME://HOST are URLs.
        guard name.first?.isUppercase == true, rest.hasPrefix(":"), !rest.contains("@"),
            let first = rest.dropFirst().first, first != "/",
            !first.isNumber
        else { return nil }
        return "-H '\(name): \(rest.dropFirst())'"
    }
}
