internal import CLinux

/// The room of a pipe: the bytes that wait for its reader. With more room, writer and reader of a large body wake each
/// other less often. The room of all pipes of a user is limited (pipe-user-pages-soft, pipe(7)), so it is for large
/// bodies.
public enum PipeRoom {
    /// For a pipe of another program, four times the kernel's default.
    public static let ofOthers: Int32 = 262_144
    /// For a pipe between two of ours: the most that the kernel gives by default (pipe-max-size).
    public static let ofOurs: Int32 = 1_048_576

    /// Gives a pipe this much room, unless it has as much. Nothing happens to another descriptor, or if the kernel
    /// refuses.
    public static func enlarge(_ raw: Int32, to bytes: Int32) { _ = CLinux_enlarge_pipe(raw, bytes) }
}
