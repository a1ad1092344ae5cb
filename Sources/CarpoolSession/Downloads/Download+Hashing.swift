internal import CarpoolSystem
internal import Glibc

// The hash of what an earlier request has left.
extension Download {
    /// How much is hashed in one turn of the loop: some milliseconds.
    private static let hashedBytesPerTurn = 4_194_304

    /// Hashes the bytes of an earlier request, in pieces; the rest of the body waits.
    func hashWhatIsThere(_ request: Request) {
        guard let partial, hash == nil || hash?.count != partial.count else { return }
        let hash = SHA256Hash()
        self.hash = hash
        guard partial.count > 0 else { return }
        isWaiting = true
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Download.hashedBytesPerTurn, alignment: 16)
        hashPiece(of: partial, hash, room, request)
    }

    private func hashPiece(
        of partial: PartialFile, _ hash: SHA256Hash, _ room: UnsafeMutableRawBufferPointer, _ request: Request
    ) {
        // Another attempt, or the end, needs it no more.
        guard isWaiting, self.hash === hash, hash.count < partial.count else {
            room.deallocate()
            guard isWaiting, self.hash === hash else { return }
            isWaiting = false
            return request.session.goOn(request)
        }
        do throws(SystemError) {
            let count = try partial.read(at: hash.count, into: room)
            guard count > 0 else { throw SystemError(code: EIO, operation: "pread", subject: partial.place) }
            hash.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
        } catch {
            request.fail(.cannotWriteToFile(partial.place, error))
            isWaiting = false
            room.deallocate()
            return request.session.goOn(request)
        }
        let timer = Timer { [self] in hashPiece(of: partial, hash, room, request) }
        request.session.scheduler.arm(timer, afterMilliseconds: 0)
    }
}
