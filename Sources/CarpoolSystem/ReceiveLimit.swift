internal import CLinux

/// Ends the reading of a library that reads from sockets as long as there is something: after a time, recv(2) says on the calling thread that
/// nothing is there. What is in the sockets stays there, and epoll(7) reports it again.
public enum ReceiveLimit {
    /// Limits what follows on this thread; the time begins with the first call of recv(2).
    @inline(__always)
    public static func begin(microseconds: Int) { CLinux_limit_receiving(Int64(microseconds)) }

    /// Lifts the limit.
    @inline(__always)
    public static func end() { CLinux_limit_receiving(0) }
}
