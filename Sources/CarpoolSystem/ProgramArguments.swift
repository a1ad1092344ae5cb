internal import CLinux
internal import Glibc

/// The arguments of the program, with its name first, as bytes. They are read without /proc.
public enum ProgramArguments {
    /// How many there are, the name included.
    public static var count: Int { Int(CLinux_argument_count()) }

    /// All of them, for exec(3).
    public static var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? { CLinux_arguments() }

    /// One of them; `nil` behind the last.
    public static func value(_ number: Int) -> UnsafePointer<CChar>? {
        guard number < count, let argument = values?[number] else { return nil }
        return UnsafePointer(argument)
    }

    /// Those after the name, with what is not UTF-8 replaced.
    public static func words(after number: Int = 0) -> [String] {
        (number + 1..<max(number + 1, count)).compactMap { value($0).map { String(cString: $0) } }
    }

    /// The path of the program's file: the kernel's, or without /proc the one by which it was started.
    public static var programPath: String? {
        guard let path = realpath("/proc/self/exe", nil) ?? CLinux_started_path().flatMap({ realpath($0, nil) }) else {
            return nil
        }
        defer { free(path) }
        return SystemPath.text(path)
    }
}
