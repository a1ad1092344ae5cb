/// Names of interfaces with `*` for any characters.
enum NamePattern {
    static func matches(_ name: String, _ pattern: String) -> Bool { matches(name.utf8[...], pattern.utf8[...]) }

    private static func matches(_ name: Substring.UTF8View, _ pattern: Substring.UTF8View) -> Bool {
        var (name, pattern) = (name, pattern)
        var retry: (name: Substring.UTF8View, pattern: Substring.UTF8View)?
        while !name.isEmpty {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (name, pattern)
            } else if pattern.first == name.first {
                (name, pattern) = (name.dropFirst(), pattern.dropFirst())
            } else if let last = retry {
                // The star takes one character more.
                (name, pattern) = (last.name.dropFirst(), last.pattern)
                retry = (name, pattern)
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
