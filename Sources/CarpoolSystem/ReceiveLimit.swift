internal import CLinux

/// Limits a library that reads from sockets as long as there is input: after a time, recv(2) fails with EAGAIN on the
/// calling thread. The input stays in the sockets, and epoll(7) reports it again.
public enum ReceiveLimit {
    /// Starts the limit on this thread; the time begins with the first call of recv(2).
    @inline(__always)
    public static func begin(microseconds: Int) { CLinux_limit_receiving(Int64(microseconds)) }

    /// Lifts the limit.
    @inline(__always)
    public static func end() { CLinux_limit_receiving(0) }
}

/// Keeps a library from sending over one socket: send(2) fails with EAGAIN on the calling thread.
public enum SendingHold {
    /// Starts it for a descriptor.
    public static func begin(_ descriptor: Int32) { CLinux_hold_sending(descriptor) }

    /// Ends it.
    public static func end() { CLinux_hold_sending(-1) }
}
