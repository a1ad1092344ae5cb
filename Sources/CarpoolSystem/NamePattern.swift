/// Patterns of names, such as types of events and interfaces. The only special character is the star: any number of any
/// characters.
public enum NamePattern {
    /// Whether the pattern matches the whole name. Only the last star is tried again, so that the time is at most the
    /// product of both lengths.
    public static func matches(_ name: String, _ pattern: String) -> Bool {
        var (name, pattern) = (name.utf8[...], pattern.utf8[...])
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
