internal import CarpoolSystem
internal import Glibc

// The descriptors that a client passes. Closing one may block, whatever its mode: a file in FLUSH of its file system, a
// socket for its linger time. So none of them is closed on the loop.
extension Connection {
    /// Unclaimed descriptors of so many reads may wait to be closed; beyond that nothing is read from the client. Each
    /// read has at most 253.
    private static let closingAtOnce = 4

    /// Whether more descriptors may come.
    var takesDescriptorsIn: Bool { closing < Connection.closingAtOnce && !services.worker.hasTooManyToClose(uid) }

    /// Called when a line may have been handled: closes its unclaimed descriptors.
    func endDescriptors() {
        if work.isEmpty, parsingBytes == 0 { closeInBackground(resources.descriptors.end()) }
    }

    /// Closes descriptors by one job, so that those that block cost one thread.
    func closeInBackground(_ raws: [Int32]) {
        guard !raws.isEmpty else { return }
        closing += 1
        if !takesDescriptorsIn, !inputHasEnded { updateInterestOrClose() }
        services.worker.close(raws, for: identity.workerShare) { [weak self] in
            self?.closing -= 1
            self?.updateInterestOrClose()
        }
    }

    /// Closes the socket: on a thread if it may hold input, since descriptors that were passed with that are closed
    /// with it.
    func closeSocket() {
        guard let descriptor = descriptor.take(), !hasReadEnd else { return }
        // From here on the peer cannot write. If all that it has written was read, it sees the end at once. Otherwise
        // it sees a reset when the thread closes the socket, and knows that its last message was not read.
        shutdown(descriptor.raw, Int32(SHUT_RD))
        var byte: UInt8 = 0
        if recv(descriptor.raw, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) <= 0 {
            shutdown(descriptor.raw, Int32(SHUT_WR))
        }
        services.worker.close(descriptor, for: identity.workerShare)
    }
}
