internal import CLinux

/// The arguments of the process as other users see them (`/proc/PID/cmdline`).
public enum VisibleArguments {
    /// Overwrites a value with blanks: that of an argument, alone or behind its option, as in `-uUSER:PASSWORD` and
    /// `--user=USER:PASSWORD`.
    public static func hide(_ value: String) { CLinux_hide_argument(value) }
}
